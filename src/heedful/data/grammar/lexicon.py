"""The nouns, adjectives and determiners, each with its three names.

A noun's kind says what may be said of it: nobody eats a bridge and no table is brave. The verbs,
with who may do them to what, are in `verbs.py`.

Each English word has one translation for each kind of noun. Words that would need more context
(read, which is past as well as present; sister, which Korean says in four ways) are left out.
"""

from __future__ import annotations

from heedful.data.grammar import english, french, korean
from heedful.data.grammar.words import Adjective, Determiner, Noun

_TABLE = {
    "profession": "student m étudiant|étudiante 학생, teacher m enseignant|enseignante 교사, "
    "doctor m médecin|médecin 의사, singer m chanteur|chanteuse 가수, "
    "farmer m fermier|fermière 농부, writer m écrivain|écrivaine 작가, "
    "lawyer m avocat|avocate 변호사",
    "adult": "man|men m homme 남자, woman|women f femme 여자, king m roi 왕, queen f reine 여왕",
    "child": "boy m garçon 소년, girl f fille 소녀, child|children m enfant 아이",
    "family": "mother f mère 어머니, father m père 아버지, son m fils 아들, daughter f fille 딸, "
    "friend m ami 친구",
    "animal": "animal m animal 동물, dog m chien 개, cat m chat 고양이, bird m oiseau 새, "
    "horse m cheval 말, rabbit m lapin 토끼, bear m ours 곰, cow f vache 소, "
    "mouse|mice f souris 쥐, goat f chèvre 염소, hen f poule 암탉, turtle f tortue 거북이, "
    "frog f grenouille 개구리, giraffe f girafe 기린",
    "way": "street f rue 길, road f route 도로, path m sentier 오솔길, boulevard m boulevard 대로, "
    "bridge m pont 다리",
    "water": "river f rivière 강, valley f vallée 골짜기, lake m lac 호수, stream m ruisseau 개울",
    "height": "hill f colline 언덕, mountain f montagne 산, rock m rocher 바위, "
    "volcano|volcanoes m volcan 화산",
    "vehicle": "car f voiture 자동차, motorcycle f moto 오토바이, truck m camion 트럭, "
    "bus m bus 버스, train m train 기차",
    "container": "suitcase f valise 여행 가방, box f boîte 상자, wardrobe f armoire 옷장, "
    "bag m sac 가방, drawer m tiroir 서랍, basket m panier 바구니",
    "food": "apple f pomme 사과, orange f orange 오렌지, carrot f carotte 당근, "
    "melon m melon 멜론, cake m gâteau 케이크, cookie m biscuit 과자, sandwich m sandwich 샌드위치",
    "place": "garden m jardin 정원, house f maison 집, school f école 학교, market m marché 시장, "
    "station f gare 역, museum m musée 박물관, library f bibliothèque 도서관, "
    "hospital m hôpital 병원, kitchen f cuisine 부엌, park m parc 공원",
    "furniture": "table f table 탁자, chair f chaise 의자, bed m lit 침대, bench m banc 벤치",
    "tree": "tree m arbre 나무|그루",
    "thing": "book m livre 책|권, letter f lettre 편지|통, key f clé 열쇠, ball m ballon 공, "
    "flower f fleur 꽃|송이, hat m chapeau 모자, lamp f lampe 램프, clock f horloge 시계, "
    "umbrella m parapluie 우산, guitar f guitare 기타|대, bottle f bouteille 병, "
    "doll f poupée 인형, mirror m miroir 거울, trophy m trophée 트로피",
}
"""The nouns of each kind: English, French with its gender, Korean. Behind a bar is what does not
follow from the word: a plural, what a woman of a profession is called, what it is counted by."""

PERSONS = ("profession", "adult", "child", "family")
_COUNTERS = {**dict.fromkeys(PERSONS, "명"), "animal": "마리", "vehicle": "대"}


def _noun(kind: str, entry: str) -> Noun:
    """Read a noun of the table."""
    in_english, gender, in_french, in_korean = entry.split(" ", 3)
    en, _, many = in_english.partition("|")
    fr, _, woman = in_french.partition("|")
    ko, _, counter = in_korean.partition("|")
    many = many or english.with_s(en)
    counter = counter or _COUNTERS.get(kind, "개")
    return Noun(en, many, fr, french.plural(fr), gender == "f", ko, counter, kind, woman)


NOUNS = tuple(_noun(kind, entry) for kind, row in _TABLE.items() for entry in row.split(", "))
NOUN_NAMED = {noun.en: noun for noun in NOUNS}


def of(kinds_or_names: str) -> tuple[Noun, ...]:
    """Give the nouns of these kinds, or by these names."""
    names = kinds_or_names.split()
    chosen = tuple(noun for noun in NOUNS if noun.kind in names or noun.en in names)
    known = {noun.kind for noun in chosen} | {noun.en for noun in chosen}
    assert known.issuperset(names), f"no noun or kind called {set(names) - known}"
    return chosen


PEOPLE = of(" ".join(PERSONS))
LIVING = (*PEOPLE, *of("animal"))

_GOODS = "vehicle container furniture thing"
_GROWN = "profession adult"
_ALIVE = "profession adult child animal"


def _adjective(
    en: str,
    more: str,
    fr: str,
    ko: str,
    kinds: str = "",
    *,
    said_of: str | None = None,
    modifier: str = "",
    other: str = "",
    other_kinds: str = "",
) -> Adjective:
    """Read an adjective; behind a bar is its form before a vowel, if it stands before the noun."""
    in_french, _, before_vowel = fr.partition("|")
    return Adjective(
        en,
        more,
        french.forms(*in_french.split("/")),
        before_vowel,
        korean.stem(ko, verb=False, modifier=modifier),
        frozenset(kinds.split()),
        frozenset((kinds if said_of is None else said_of).split()),
        korean.stem(other or ko, verb=False),
        frozenset(other_kinds.split()),
    )


ADJECTIVES = (
    _adjective("big", "bigger", "grand|grand", "크/크/커", f"animal {_GOODS} place tree"),
    _adjective("small", "smaller", "petit|petit", "작/작으/작아", f"animal {_GOODS} food"),
    _adjective(
        *("old", "", "vieux/vieille|vieil", "오래되/오래되/오래되어"),
        f"{_GOODS} place way tree {_GROWN} animal",
        said_of="",
        other="늙/늙으/늙어",
        other_kinds=_ALIVE,
    ),
    _adjective("new", "", "nouveau/nouvelle|nouvel", "새/새/새", _GOODS, said_of="", modifier="새"),
    _adjective(
        *("young", "younger", "jeune|jeune", "젊/젊으/젊어", f"{_GROWN} animal"),
        other="어리/어리/어려",
        other_kinds="animal",
    ),
    _adjective(
        *("beautiful", "more beautiful", "beau/belle|bel", "아름답/아름다우/아름다워"),
        "animal thing vehicle place way water height tree",
    ),
    _adjective("red", "", "rouge", "빨갛/빨가/빨개", _GOODS),
    _adjective("blue", "", "bleu", "파랗/파라/파래", _GOODS),
    _adjective("yellow", "", "jaune", "노랗/노라/노래", _GOODS),
    _adjective("white", "", "blanc/blanche", "하얗/하야/하얘", f"{_GOODS} animal"),
    _adjective("black", "", "noir", "까맣/까마/까매", f"{_GOODS} animal"),
    _adjective("heavy", "heavier", "lourd", "무겁/무거우/무거워", _GOODS),
    _adjective("expensive", "more expensive", "cher/chère", "비싸/비싸/비싸", _GOODS),
    _adjective("dirty", "", "sale", "더럽/더러우/더러워", f"{_GOODS} animal place way"),
    _adjective("slow", "slower", "lent", "느리/느리/느려", "animal vehicle"),
    _adjective("fast", "faster", "rapide", "빠르/빠르/빨라", "animal vehicle"),
    _adjective("strong", "stronger", "fort", "강하", f"{_GROWN} animal"),
    _adjective("weak", "weaker", "faible", "약하", _ALIVE),
    _adjective("happy", "happier", "heureux/heureuse", "행복하", _ALIVE),
    _adjective("sad", "", "triste", "슬프/슬프/슬퍼", _ALIVE),
    _adjective("tired", "", "fatigué", "피곤하", _ALIVE),
    _adjective("sick", "", "malade", "아프/아프/아파", _ALIVE),
    _adjective("brave", "", "courageux/courageuse", "용감하", _ALIVE),
    _adjective("smart", "smarter", "intelligent", "똑똑하", _ALIVE),
    _adjective("lazy", "", "paresseux/paresseuse", "게으르/게으르/게을러", _ALIVE),
    _adjective("kind", "", "gentil/gentille", "친절하", f"{_GROWN} child"),
    _adjective("fresh", "", "frais/fraîche", "신선하", "food"),
    _adjective("narrow", "", "étroit", "좁/좁으/좁아", "way"),
    _adjective("wide", "", "large", "넓/넓으/넓어", "way"),
    _adjective("deep", "", "profond", "깊/깊으/깊어", "water"),
    _adjective("high", "", "haut", "높/높으/높아", said_of="height"),
    _adjective("steep", "", "raide", "가파르/가파르/가팔라", said_of="height"),
    _adjective("slippery", "", "glissant", "미끄럽/미끄러우/미끄러워", "way"),
    _adjective("long", "", "long/longue", "길/길/길어", said_of="way"),
    _adjective("hard", "", "dur", "딱딱하", said_of="food"),
    _adjective("bitter", "", "amer/amère", "쓰/쓰/써", said_of="food"),
    _adjective("sour", "", "acide", "시/시/셔", said_of="food"),
    _adjective("sweet", "", "sucré", "달/달/달아", "food"),
    _adjective("full", "", "plein", "가득 차/가득 차/가득 차", said_of=""),
)
ADJECTIVE_NAMED = {adjective.en: adjective for adjective in ADJECTIVES}


def _own(en: str, singular: str, many: str, ko: str) -> tuple[Determiner, Determiner]:
    masculine, feminine = singular.split("/")
    one = (masculine + " ", feminine + " ", masculine + " ", masculine + " ")
    return Determiner(en, False, one, ko), Determiner(en, True, (many + " ",) * 4, ko)


THE = Determiner("the", False, ("le ", "la ", "l'", "l'"), "그")
THE_MANY = Determiner("the", True, ("les ",) * 4, "그")
A = Determiner("a", False, ("un ", "une ", "un ", "une "), "", "한")
THIS = Determiner("this", False, ("ce ", "cette ", "cet ", "cette "), "이")
THESE = Determiner("these", True, ("ces ",) * 4, "이")
_OWN = (
    _own("my", "mon/ma", "mes", "내"),
    _own("your", "ton/ta", "tes", "네"),
    _own("his", "son/sa", "ses", "그의"),
    _own("her", "son/sa", "ses", "그녀의"),
    _own("our", "notre/notre", "nos", "우리"),
    _own("their", "leur/leur", "leurs", "그들의"),
)
OUR_OWN = tuple(one for one, _ in _OWN)
OUR_OWN_MANY = tuple(many for _, many in _OWN)
NUMERALS = tuple(
    Determiner(en, True, (fr + " ",) * 4, "", ko)
    for en, fr, ko in (
        ("two", "deux", "두"),
        ("three", "trois", "세"),
        ("four", "quatre", "네"),
        ("five", "cinq", "다섯"),
    )
)
