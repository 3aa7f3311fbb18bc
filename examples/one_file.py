"""The whole Transformer on one page, with nothing but torch.

Read it from top to bottom: attention, many heads, the two kinds of layer, the model, the loss, the
schedule, training, decoding. It is the model of "Attention Is All You Need": post-norm, sinusoids,
one embedding matrix for source, target and output. What the `heedful` package adds is speed, data,
a cache, a beam and everything around; a test proves that both give the same logits.

    python examples/one_file.py        # learns to turn digits round, in about a minute
"""

from __future__ import annotations

import math
import random
import time

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# Shapes: B sentences, T positions that look, S positions looked at, D model width, H heads,
# K width of a head, V words. `keep` is True where a position may look.


def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> Tensor:
    """Mix the values by how well each query matches each key: softmax(q k' / sqrt(K)) v."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # B H T S
    scores = scores.masked_fill(~keep, -math.inf)  # a hidden key gets no weight at all
    return scores.softmax(-1) @ v  # B H T K


class Attention(nn.Module):
    """Several heads side by side: each looks in its own way, W^O mixes what they found."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, memory: Tensor, keep: Tensor) -> Tensor:
        """Look from x at memory; self-attention is the case where both are the same."""
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        q, k, v = (t.view(*t.shape[:2], self.n_heads, -1).transpose(1, 2) for t in (q, k, v))
        found = attend(q, k, v, keep).transpose(1, 2).flatten(-2)  # B T (H K)
        mixed: Tensor = self.output(found)
        return mixed


class FeedForward(nn.Module):
    """Each position by itself: widen, cut off what is negative, narrow."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Think."""
        narrowed: Tensor = self.outer(F.relu(self.inner(x)))
        return narrowed


class EncoderLayer(nn.Module):
    """Attention to the whole source, then feed-forward; LayerNorm(x + sublayer(x)) round each."""

    def __init__(self, d_model: int, d_ff: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """Let every position gather from all others."""
        x = self.attention_norm(x + self.dropout(self.attention(x, x, keep)))
        thought: Tensor = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return thought


class DecoderLayer(nn.Module):
    """Attention to what was written, attention to the source, then feed-forward."""

    def __init__(self, d_model: int, d_ff: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross = Attention(d_model, n_heads)
        self.cross_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, past: Tensor, memory: Tensor, keep: Tensor) -> Tensor:
        """Look back (`past` hides the future), look at the source (`keep` hides its padding)."""
        x = self.attention_norm(x + self.dropout(self.attention(x, x, past)))
        x = self.cross_norm(x + self.dropout(self.cross(x, memory, keep)))
        thought: Tensor = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return thought


def sinusoid(length: int, d_model: int) -> Tensor:
    """Say where each position is: sin and cos in turn, of waves from short to very long."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    rate = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * rate
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).float()  # T D


class Stack(nn.Module):
    """Layers in a row."""

    def __init__(self, layers: list[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)


class Transformer(nn.Module):
    """Source words and the target so far in, logits of the next target word out."""

    def __init__(
        self,
        vocabulary: int,
        d_model: int = 512,
        d_ff: int = 2048,
        n_heads: int = 8,
        n_layers: int = 6,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocabulary, d_model)
        sizes = (d_model, d_ff, n_heads, dropout)
        self.encoder = Stack([EncoderLayer(*sizes) for _ in range(n_layers)])
        self.decoder = Stack([DecoderLayer(*sizes) for _ in range(n_layers)])
        self.dropout = nn.Dropout(dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        # Times sqrt(D) below this is of size 1, like the sinusoids it is added to.
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)

    def embed(self, words: Tensor) -> Tensor:
        """Look the words up and add where they stand."""
        x = self.embedding(words) * math.sqrt(self.d_model)
        positioned: Tensor = self.dropout(x + sinusoid(words.size(1), self.d_model))
        return positioned

    def encode(self, source: Tensor, keep: Tensor) -> Tensor:
        """Read the source."""
        x = self.embed(source)
        for layer in self.encoder.layers:
            x = layer(x, keep)
        return x

    def decode(self, target: Tensor, memory: Tensor, keep: Tensor) -> Tensor:
        """Give the logits of the word after each target position."""
        length = target.size(1)
        past = torch.ones(length, length, dtype=torch.bool).tril()  # T sees 0 .. T, not beyond
        x = self.embed(target)
        for layer in self.decoder.layers:
            x = layer(x, past, memory, keep)
        return x @ self.embedding.weight.T  # the embedding again, as output projection

    def forward(self, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        """Give the logits for a whole target at once; `target` begins with the start symbol."""
        keep = real(lengths, source.size(1))
        return self.decode(target, self.encode(source, keep), keep)


def real(lengths: Tensor, size: int) -> Tensor:
    """Mark what is not padding: B 1 1 S, for all heads and all queries alike."""
    return (torch.arange(size) < lengths[:, None])[:, None, None, :]


def loss_of(logits: Tensor, goal: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    """Cross-entropy with label smoothing, a mean over real words."""
    return F.cross_entropy(
        logits.flatten(0, 1), goal.flatten(), ignore_index=pad, label_smoothing=smoothing
    )


def learning_rate(step: int, d_model: int, warmup: int) -> float:
    """Rise for `warmup` steps, then fall with the inverse square root: the paper's formula."""
    return math.pow(d_model, -0.5) * min(math.pow(step, -0.5), step * math.pow(warmup, -1.5))


@torch.inference_mode()
def greedy(model: Transformer, source: Tensor, start: int, eos: int, longest: int) -> list[int]:
    """Write the likeliest word, read it, write the next, until the end symbol."""
    keep = real(torch.tensor([source.size(1)]), source.size(1))
    memory, written = model.encode(source, keep), [start]
    while len(written) <= longest:
        logits = model.decode(torch.tensor([written]), memory, keep)
        best = int(logits[0, -1].argmax())
        if best == eos:
            break
        written.append(best)
    return written[1:]


# -- a task small enough to watch: digits in, the same digits the other way round out ----------

EOS, START, PAD, DIGITS = 10, 11, 12, 10


def batch_of(rng: random.Random, rows: int = 64) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Draw sequences; give source, lengths, the target shifted right, and the target itself."""
    drawn = [[rng.randrange(DIGITS) for _ in range(rng.randint(2, 9))] for _ in range(rows)]
    lengths = torch.tensor([len(d) for d in drawn])
    longest = int(lengths.max())
    source = torch.tensor([d + [PAD] * (longest - len(d)) for d in drawn])
    shifted = torch.tensor([[START, *d[::-1]] + [PAD] * (longest - len(d)) for d in drawn])
    goal = torch.tensor([[*d[::-1], EOS] + [PAD] * (longest - len(d)) for d in drawn])
    return source, lengths, shifted, goal


def train(steps: int = 1000, seed: int = 1) -> Transformer:
    """Train with teacher forcing: the decoder reads the right words, not its own."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model = Transformer(13, d_model=64, d_ff=128, n_heads=4, n_layers=2, dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    begun = time.perf_counter()
    for step in range(1, steps + 1):
        source, lengths, shifted, goal = batch_of(rng)
        # Half the paper's rate, for the batches are small, and down to nothing at the end: a short
        # run would otherwise stop while its weights still shake.
        left = 1 - (step - 1) / steps
        for group in optimizer.param_groups:
            group["lr"] = 0.5 * left * learning_rate(step, d_model=64, warmup=200)
        optimizer.zero_grad()
        loss = loss_of(model(source, lengths, shifted), goal, PAD)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step % 100 == 0:
            seconds = time.perf_counter() - begun
            print(f"step {step:5d}  loss {loss.item():.3f}  {seconds:.0f} s")
    return model.eval()


def accuracy(model: Transformer, seed: int = 2, count: int = 100) -> float:
    """Count how often new digits come back exactly reversed."""
    rng, right = random.Random(seed), 0
    for _ in range(count):
        digits = [rng.randrange(DIGITS) for _ in range(rng.randint(2, 9))]
        right += greedy(model, torch.tensor([digits]), START, EOS, 12) == digits[::-1]
    return right / count


if __name__ == "__main__":
    trained = train()
    for digits in ([1, 2, 3], [3, 1, 4, 1, 5, 9, 2, 6]):
        print(digits, "->", greedy(trained, torch.tensor([digits]), START, EOS, 12))
    print(f"{100 * accuracy(trained):.0f} % of new sequences are exactly right")
