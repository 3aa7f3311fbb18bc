from __future__ import annotations

import pytest

from heedful.data.particles import PARTICLES, attach


@pytest.mark.parametrize(
    ("noun", "words"),
    [
        ("책", "책은 책이 책을 책과 책으로"),
        ("개", "개는 개가 개를 개와 개로"),
        ("지하철", "지하철은 지하철이 지하철을 지하철과 지하철로"),
    ],
)
def test_a_korean_particle_follows_the_last_sound(noun: str, words: str) -> None:
    assert [attach(noun, particle) for particle in PARTICLES] == words.split()
