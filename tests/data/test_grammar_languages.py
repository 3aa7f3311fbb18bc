"""The grammar's French and Korean: sentences checked by hand, forms, and what never happens."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import Any

import pytest

from heedful.data.grammar import LANGUAGES, Sentence, french, generate, korean
from heedful.data.grammar.because import Scene
from heedful.data.grammar.choosing import Choice
from heedful.data.grammar.constructions import CONSTRUCTIONS
from heedful.data.grammar.lexicon import NOUNS
from heedful.data.grammar.phrases import Pronoun
from heedful.data.grammar.verbs import VERB_NAMED, Preposition
from heedful.data.grammar.words import (
    Adjective,
    Agreement,
    Determiner,
    Mood,
    Noun,
    Tense,
    Verb,
)

CHECKED = """
# because
The bird doesn't carry our clock because it is too big.
L'oiseau ne porte pas notre horloge parce qu'elle est trop grande.
그 새는 우리 시계가 너무 커서 나르지 않는다.
The horse can't carry the chair because it is too heavy.
Le cheval ne peut pas porter la chaise parce qu'elle est trop lourde.
그 말은 의자가 너무 무거워서 나를 수 없다.
His bear didn't climb the hill because it was too young.
Son ours n'a pas escaladé la colline parce qu'il était trop jeune.
그의 곰은 너무 어려서 언덕을 오르지 않았다.
# identity
She is a writer.
Elle est écrivaine.
그녀는 작가다.
Are you a doctor?
Est-ce que tu es médecin ?
너는 의사니?
He is not a student.
Il n'est pas étudiant.
그는 학생이 아니다.
# attribute
The valley is beautiful.
La vallée est belle.
그 골짜기는 아름답다.
The women are happy.
Les femmes sont heureuses.
그 여자들은 행복하다.
# comparison
Her mouse was faster than the animal.
Sa souris était plus rapide que l'animal.
그녀의 쥐는 동물보다 더 빨랐다.
The keys were more expensive than the doll.
Les clés étaient plus chères que la poupée.
그 열쇠들은 인형보다 더 비쌌다.
# intransitive
My mother fell.
Ma mère est tombée.
내 어머니는 넘어졌다.
An old king cried at the market.
Un vieux roi a pleuré au marché.
늙은 왕 한 명이 시장에서 울었다.
# transitive
I drove her truck.
J'ai conduit son camion.
나는 그녀의 트럭을 운전했다.
The woman loved this man.
La femme aimait cet homme.
그 여자는 이 남자를 사랑했다.
# described
The old man has these white books.
Le vieil homme a ces livres blancs.
그 늙은 남자는 이 하얀 책을 가지고 있다.
The tired queen draws the beautiful tree.
La reine fatiguée dessine le bel arbre.
그 피곤한 여왕은 아름다운 나무를 그린다.
# giving
You will give the lamp to the farmer.
Tu donneras la lampe au fermier.
너는 농부에게 램프를 줄 것이다.
He doesn't send a clock to my father.
Il n'envoie pas d'horloge à mon père.
그는 내 아버지에게 시계를 보내지 않는다.
# place
They are near the bridge.
Ils sont près du pont.
그들은 다리 근처에 있다.
Her lamps were in your bag.
Ses lampes étaient dans ton sac.
그녀의 램프들은 네 가방 안에 있었다.
# travel
The girls went to the museum by car.
Les filles sont allées au musée en voiture.
그 소녀들은 자동차로 박물관에 갔다.
The men went to the library by truck.
Les hommes sont allés à la bibliothèque en camion.
그 남자들은 트럭으로 도서관에 갔다.
He didn't go to the museum by subway.
Il n'est pas allé au musée en métro.
그는 지하철로 박물관에 가지 않았다.
# there_is
There is no child at the hospital.
Il n'y a pas d'enfant à l'hôpital.
병원에 아이가 없다.
There are five dolls under the bench.
Il y a cinq poupées sous le banc.
벤치 아래에 인형 다섯 개가 있다.
# negation
They won't write a letter.
Ils n'écriront pas de lettre.
그들은 편지를 쓰지 않을 것이다.
She was not very lazy.
Elle n'était pas très paresseuse.
그녀는 그다지 게으르지 않았다.
The cat is not near the bridge.
Le chat n'est pas près du pont.
그 고양이는 다리 근처에 없다.
# future
I will buy the balls.
J'achèterai les ballons.
나는 공을 살 것이다.
Our cat will see my new hats.
Notre chat verra mes nouveaux chapeaux.
우리 고양이는 내 새 모자를 볼 것이다.
# question
Will he leave?
Est-ce qu'il partira ?
그는 떠날 거니?
Is the garden big?
Est-ce que le jardin est grand ?
그 정원은 크니?
# numeral
Three women sell this cookie.
Trois femmes vendent ce biscuit.
여자 세 명이 이 과자를 판다.
The king met four old writers.
Le roi a rencontré quatre vieux écrivains.
그 왕은 늙은 작가 네 명을 만났다.
# possession
Her friend had my clock.
Son ami avait mon horloge.
그녀의 친구는 내 시계를 가지고 있었다.
# pronoun
My mother saw her.
Ma mère l'a vue.
내 어머니는 그녀를 보았다.
This girl won't see us.
Cette fille ne nous verra pas.
이 소녀는 우리를 보지 않을 것이다.
This man gave him a doll.
Cet homme lui a donné une poupée.
이 남자는 그에게 인형을 주었다.
# modal
I wanted to wait.
Je voulais attendre.
나는 기다리고 싶었다.
Your dog didn't want to sleep.
Ton chien ne voulait pas dormir.
네 개는 자고 싶어 하지 않았다.
Do you want to drive the truck?
Est-ce que tu veux conduire le camion ?
너는 트럭을 운전하고 싶니?
# relative
The letter that your son wrote was small.
La lettre que ton fils a écrite était petite.
네 아들이 쓴 편지는 작았다.
The king who climbed the rock arrived.
Le roi qui a escaladé le rocher est arrivé.
바위를 오른 왕은 도착했다.
# coordination
My father swam but his friend didn't cross this lake.
Mon père a nagé mais son ami n'a pas traversé ce lac.
내 아버지는 수영했지만 그의 친구는 이 호수를 건너지 않았다.
The doctor and this queen wanted the trophies.
Le médecin et cette reine voulaient les trophées.
그 의사와 이 여왕은 트로피를 원했다.
# thought
We think that he is in front of the museum.
Nous pensons qu'il est devant le musée.
우리는 그가 박물관 앞에 있다고 생각한다.
They think that the giraffe that we found was sick.
Ils pensent que la girafe que nous avons trouvée était malade.
그들은 우리가 찾은 기린이 아팠다고 생각한다.
"""


def checked() -> list[tuple[str, str, str, str]]:
    """Give the sentences above, each of which was read by a person, with their construction."""
    rows = []
    for part in CHECKED.strip().split("# ")[1:]:
        construction, *lines = part.strip().split("\n")
        for start in range(0, len(lines), 3):
            en, fr, ko = lines[start : start + 3]
            rows.append((construction, en, fr, ko))
    return rows


@cache
def sample() -> list[Sentence]:
    return list(islice(generate(2), 20_000))


def names(option: Any) -> set[str]:
    """Give the English words that would show that this was chosen."""
    match option:
        case Noun():
            return {option.en, option.en_plural}
        case Adjective():
            return {option.en, *option.more.split()}
        case Determiner():
            return {option.en, "an"} if option.en == "a" else {option.en}
        case Verb():
            return {option.en.base, option.en.third, option.en.past}
        case Pronoun():
            return {option.phrase.en.lower(), option.en_object}
        case Preposition():
            return {option.en.split()[0]}
        case Scene():
            return names(option.verb)
        case (Verb(), *_):
            return names(option[0])
        case (str(), *_):
            return {option[0].split()[-1]}
    return set()


class Looking(Choice):
    """Decisions that favour the words of one sentence, so that a construction comes to it soon."""

    def __init__(self, en: str) -> None:
        super().__init__(1)
        self.words = set(re.findall(r"[a-z']+", en.lower()))

    def one(self, options: Sequence[Any]) -> Any:
        fitting = [option for option in options if names(option) & self.words]
        return super().one(fitting if fitting and self.chance(0.95) else options)


def look_for(en: str, construction: str) -> Sentence:
    make, choice = CONSTRUCTIONS[construction][0], Looking(en)
    found = (make(choice) for _ in range(50_000))
    return next(sentence for sentence in found if sentence.en == en)


@pytest.mark.parametrize(
    ("construction", "en", "fr", "ko"), [pytest.param(*row, id=row[1]) for row in checked()]
)
def test_a_checked_sentence_is_said_as_a_person_says_it(construction, en, fr, ko):
    sentence = look_for(en, construction)
    assert (sentence.fr, sentence.ko) == (fr, ko)
    assert sentence.construction == construction


def test_every_construction_has_a_checked_sentence():
    assert {construction for construction, *_ in checked()} == set(CONSTRUCTIONS)


@pytest.mark.parametrize(
    ("verb", "present", "past", "future"),
    [
        ("see", "nous voyons", "nous avons vu", "nous verrons"),
        ("go", "nous allons", "nous sommes allés", "nous irons"),
        ("eat", "nous mangeons", "nous avons mangé", "nous mangerons"),
        ("buy", "nous achetons", "nous avons acheté", "nous achèterons"),
        ("send", "nous envoyons", "nous avons envoyé", "nous enverrons"),
        ("clean", "nous nettoyons", "nous avons nettoyé", "nous nettoierons"),
        ("run", "nous courons", "nous avons couru", "nous courrons"),
        ("open", "nous ouvrons", "nous avons ouvert", "nous ouvrirons"),
        ("love", "nous aimons", "nous aimions", "nous aimerons"),
        ("want", "nous voulons", "nous voulions", "nous voudrons"),
        ("have", "nous avons", "nous avions", "nous aurons"),
    ],
)
def test_a_french_verb_is_conjugated(verb, present, past, future):
    word = VERB_NAMED[verb].fr
    forms = [f"nous {french.finite(word, tense, False, Agreement.NOUS)}" for tense in Tense]
    assert forms == [present, past, future]


@pytest.mark.parametrize(
    ("verb", "present", "past", "future", "asked", "which", "not_present"),
    [
        ("see", "본다", "보았다", "볼 것이다", "보니", "본", "보지 않는다"),
        ("walk", "걷는다", "걸었다", "걸을 것이다", "걷니", "걸은", "걷지 않는다"),
        ("open", "연다", "열었다", "열 것이다", "여니", "연", "열지 않는다"),
        ("help", "돕는다", "도왔다", "도울 것이다", "돕니", "도운", "돕지 않는다"),
        ("carry", "나른다", "날랐다", "나를 것이다", "나르니", "나른", "나르지 않는다"),
        ("write", "쓴다", "썼다", "쓸 것이다", "쓰니", "쓴", "쓰지 않는다"),
        ("cross", "건넌다", "건넜다", "건널 것이다", "건너니", "건넌", "건너지 않는다"),
        ("clean", "청소한다", "청소했다", "청소할 것이다", "청소하니", "청소한", "청소하지 않는다"),
    ],
)
def test_a_korean_verb_is_conjugated(verb, present, past, future, asked, which, not_present):
    stem = VERB_NAMED[verb].ko
    stated = [korean.conjugate(stem, tense, Mood.STATE) for tense in Tense]
    assert stated == [present, past, future]
    assert korean.conjugate(stem, Tense.PRESENT, Mood.ASK) == asked
    assert korean.conjugate(stem, Tense.PAST, Mood.MODIFY) == which
    assert korean.conjugate(korean.negate(stem), Tense.PRESENT, Mood.STATE) == not_present


def test_french_elides_and_contracts():
    bad = re.compile(
        r"\b(?:je|me|te|le|la|ne|de|que|se|ce) [aâeéèêiîoôuûœhy]|\b(?:à|de) les? |[ld]' |  "
        r"|\b(?:ma|ta|sa|beau|nouveau|(?:le|un|ce|[mts]on|notre|leur) vieux) [aeéiouœh]",
        re.IGNORECASE,
    )
    for sentence in sample():
        assert bad.search(sentence.fr) is None, sentence.fr


def test_french_articles_agree_with_their_nouns():
    men = "|".join(noun.fr for noun in NOUNS if not noun.feminine)
    women = "|".join(noun.fr for noun in NOUNS if noun.feminine)
    before = r"(?:petite? |grande? |nouvel(?:le)? |vieil(?:le)? |bel(?:le)? |jeune )?"
    bad = re.compile(
        rf"\b(?:la|une|cette|ma|ta|sa) {before}(?:{men})\b|\b(?:le|un|ce) {before}(?:{women})\b",
        re.IGNORECASE,
    )
    for sentence in sample():
        assert bad.search(sentence.fr) is None, sentence.fr


def test_korean_particles_fit_the_last_sound_of_their_nouns():
    nouns = {noun.ko.split()[-1] for noun in NOUNS} | {noun.counter for noun in NOUNS}
    nouns |= {noun + "들" for noun in nouns} | {"나", "너", "그", "그녀", "우리", "그들"}
    closed_only, open_only = ("은", "이", "을", "과"), ("는", "가", "를", "와")
    seen = 0
    for sentence in sample()[:5_000]:
        for word in sentence.ko.rstrip(".?").split():
            noun, particle = word[:-1], word[-1]
            if word in nouns or noun not in nouns or particle not in closed_only + open_only:
                continue
            closed = len(unicodedata.normalize("NFD", noun[-1])) == 3  # the third is the end
            assert particle in (closed_only if closed else open_only), sentence.ko
            seen += 1
    assert seen > 9_000


def test_sentences_begin_and_end_as_they_should():
    for sentence in sample():
        assert sentence.en[0].isupper()
        assert sentence.fr[0].isupper()
        ends = sentence.en[-1], sentence.fr[-1], sentence.ko[-1]
        assert ends in ((".", ".", "."), ("?", "?", "?"))
        assert sentence.fr.endswith(" ?") is (ends[0] == "?")
        assert all("  " not in sentence.text(language) for language in LANGUAGES)
