"""Letters for axes, so that a signature says what goes in and what comes out.

B batch, T query length, S key length, D d_model, H heads, K width of a head's queries and keys,
W width of its values, F d_ff, V vocabulary, M tokens of a batch without its padding. The test run
checks every annotated call of a module: a letter must mean one size within a call.
"""

from __future__ import annotations

from typing import Annotated

from torch import Tensor

B = Annotated[Tensor, "B"]
M = Annotated[Tensor, "M"]
MD = Annotated[Tensor, "M D"]
MV = Annotated[Tensor, "M V"]
BT = Annotated[Tensor, "B T"]
BS = Annotated[Tensor, "B S"]
TD = Annotated[Tensor, "T D"]
BTD = Annotated[Tensor, "B T D"]
BSD = Annotated[Tensor, "B S D"]
BTV = Annotated[Tensor, "B T V"]
BHTK = Annotated[Tensor, "B H T K"]
BHSK = Annotated[Tensor, "B H S K"]
BHTW = Annotated[Tensor, "B H T W"]
BHSW = Annotated[Tensor, "B H S W"]
BHTS = Annotated[Tensor, "B H T S"]
Keep = Annotated[Tensor, "B* H* T* S"]
"""A boolean mask, True where a query may attend; an axis marked * may be 1 and broadcasts."""
