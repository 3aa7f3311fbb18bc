"""The nouns, adjectives and determiners, each with its three names.

A noun's kind says what may be said of it: nobody eats a bridge and no table is brave. The verbs,
with who may do them to what, are in `verbs.py`.

Each English word has one translation for each kind of noun. Words that would need more context
(read, which is past as well as present; sister, which Korean says in four ways) are left out.
"""

from __future__ import annotations

from heedful.data.grammar import english, french, korean
from heedful.data.grammar.words import Adjective, Determiner, Noun

_COUNTERS = {"profession": "명", "adult": "명", "child": "명", "family": "명", "animal": "마리"}


def _noun(
    en: str, fr: str, ko: str, kind: str, counter: str = "", *, plural: str = "", woman: str = ""
) -> Noun:
    """Read a noun; the French is given with its gender, "f rue"."""
    gender, name = fr[0], fr[2:]
    counter = counter or _COUNTERS.get(kind, "대" if kind == "vehicle" else "개")
    many = plural or english.with_s(en)
    return Noun(en, many, name, french.plural(name), gender == "f", ko, counter, kind, woman)


NOUNS = (
    _noun("student", "m étudiant", "학생", "profession", woman="étudiante"),
    _noun("teacher", "m enseignant", "교사", "profession", woman="enseignante"),
    _noun("doctor", "m médecin", "의사", "profession", woman="médecin"),
    _noun("singer", "m chanteur", "가수", "profession", woman="chanteuse"),
    _noun("farmer", "m fermier", "농부", "profession", woman="fermière"),
    _noun("writer", "m écrivain", "작가", "profession", woman="écrivaine"),
    _noun("lawyer", "m avocat", "변호사", "profession", woman="avocate"),
    _noun("man", "m homme", "남자", "adult", plural="men"),
    _noun("woman", "f femme", "여자", "adult", plural="women"),
    _noun("king", "m roi", "왕", "adult"),
    _noun("queen", "f reine", "여왕", "adult"),
    _noun("boy", "m garçon", "소년", "child"),
    _noun("girl", "f fille", "소녀", "child"),
    _noun("child", "m enfant", "아이", "child", plural="children"),
    _noun("mother", "f mère", "어머니", "family"),
    _noun("father", "m père", "아버지", "family"),
    _noun("son", "m fils", "아들", "family"),
    _noun("daughter", "f fille", "딸", "family"),
    _noun("friend", "m ami", "친구", "family"),
    _noun("animal", "m animal", "동물", "animal"),
    _noun("dog", "m chien", "개", "animal"),
    _noun("cat", "m chat", "고양이", "animal"),
    _noun("bird", "m oiseau", "새", "animal"),
    _noun("horse", "m cheval", "말", "animal"),
    _noun("rabbit", "m lapin", "토끼", "animal"),
    _noun("bear", "m ours", "곰", "animal"),
    _noun("cow", "f vache", "소", "animal"),
    _noun("mouse", "f souris", "쥐", "animal", plural="mice"),
    _noun("goat", "f chèvre", "염소", "animal"),
    _noun("hen", "f poule", "암탉", "animal"),
    _noun("turtle", "f tortue", "거북이", "animal"),
    _noun("frog", "f grenouille", "개구리", "animal"),
    _noun("giraffe", "f girafe", "기린", "animal"),
    _noun("street", "f rue", "길", "way"),
    _noun("road", "f route", "도로", "way"),
    _noun("path", "m sentier", "오솔길", "way"),
    _noun("boulevard", "m boulevard", "대로", "way"),
    _noun("bridge", "m pont", "다리", "way"),
    _noun("river", "f rivière", "강", "water"),
    _noun("valley", "f vallée", "골짜기", "water"),
    _noun("lake", "m lac", "호수", "water"),
    _noun("stream", "m ruisseau", "개울", "water"),
    _noun("hill", "f colline", "언덕", "height"),
    _noun("mountain", "f montagne", "산", "height"),
    _noun("rock", "m rocher", "바위", "height"),
    _noun("volcano", "m volcan", "화산", "height", plural="volcanoes"),
    _noun("car", "f voiture", "자동차", "vehicle"),
    _noun("motorcycle", "f moto", "오토바이", "vehicle"),
    _noun("truck", "m camion", "트럭", "vehicle"),
    _noun("bus", "m bus", "버스", "vehicle"),
    _noun("train", "m train", "기차", "vehicle"),
    _noun("suitcase", "f valise", "여행 가방", "container"),
    _noun("box", "f boîte", "상자", "container"),
    _noun("wardrobe", "f armoire", "옷장", "container"),
    _noun("bag", "m sac", "가방", "container"),
    _noun("drawer", "m tiroir", "서랍", "container"),
    _noun("basket", "m panier", "바구니", "container"),
    _noun("apple", "f pomme", "사과", "food"),
    _noun("orange", "f orange", "오렌지", "food"),
    _noun("carrot", "f carotte", "당근", "food"),
    _noun("melon", "m melon", "멜론", "food"),
    _noun("cake", "m gâteau", "케이크", "food"),
    _noun("cookie", "m biscuit", "과자", "food"),
    _noun("sandwich", "m sandwich", "샌드위치", "food"),
    _noun("garden", "m jardin", "정원", "place"),
    _noun("house", "f maison", "집", "place"),
    _noun("school", "f école", "학교", "place"),
    _noun("market", "m marché", "시장", "place"),
    _noun("station", "f gare", "역", "place"),
    _noun("museum", "m musée", "박물관", "place"),
    _noun("library", "f bibliothèque", "도서관", "place"),
    _noun("hospital", "m hôpital", "병원", "place"),
    _noun("kitchen", "f cuisine", "부엌", "place"),
    _noun("park", "m parc", "공원", "place"),
    _noun("table", "f table", "탁자", "furniture"),
    _noun("chair", "f chaise", "의자", "furniture"),
    _noun("bed", "m lit", "침대", "furniture"),
    _noun("bench", "m banc", "벤치", "furniture"),
    _noun("tree", "m arbre", "나무", "tree", "그루"),
    _noun("book", "m livre", "책", "thing", "권"),
    _noun("letter", "f lettre", "편지", "thing", "통"),
    _noun("key", "f clé", "열쇠", "thing"),
    _noun("ball", "m ballon", "공", "thing"),
    _noun("flower", "f fleur", "꽃", "thing", "송이"),
    _noun("hat", "m chapeau", "모자", "thing"),
    _noun("lamp", "f lampe", "램프", "thing"),
    _noun("clock", "f horloge", "시계", "thing"),
    _noun("umbrella", "m parapluie", "우산", "thing"),
    _noun("guitar", "f guitare", "기타", "thing", "대"),
    _noun("bottle", "f bouteille", "병", "thing"),
    _noun("doll", "f poupée", "인형", "thing"),
    _noun("mirror", "m miroir", "거울", "thing"),
    _noun("trophy", "m trophée", "트로피", "thing"),
)
NOUN_NAMED = {noun.en: noun for noun in NOUNS}


def of(kinds_or_names: str) -> tuple[Noun, ...]:
    """Give the nouns of these kinds, or by these names."""
    names = kinds_or_names.split()
    chosen = tuple(noun for noun in NOUNS if noun.kind in names or noun.en in names)
    known = {noun.kind for noun in chosen} | {noun.en for noun in chosen}
    assert known.issuperset(names), f"no noun or kind called {set(names) - known}"
    return chosen


PEOPLE = of("profession adult child family")
LIVING = of("profession adult child family animal")

_GOODS = "vehicle container furniture thing"
_GROWN = "profession adult"
_PERSONS = "profession adult child"
_ALIVE = "profession adult child animal"


def _adjective(
    en: str,
    more: str,
    fr: str,
    ko: str,
    kinds: str = "",
    *,
    before: str = "",
    said_of: str | None = None,
    modifier: str = "",
    other: str = "",
    other_kinds: str = "",
) -> Adjective:
    """Read an adjective; `before` is its form before a vowel, for those that precede the noun."""
    return Adjective(
        en,
        more,
        french.forms(*fr.split("/")),
        before,
        korean.stem(ko, verb=False, modifier=modifier),
        frozenset(kinds.split()),
        frozenset((kinds if said_of is None else said_of).split()),
        korean.stem(other, verb=False) if other else None,
        frozenset(other_kinds.split()),
    )


ADJECTIVES = (
    _adjective("big", "bigger", "grand", "크/크/커", f"animal {_GOODS} place tree", before="grand"),
    _adjective(
        *("small", "smaller", "petit", "작/작으/작아", f"animal {_GOODS} food"), before="petit"
    ),
    _adjective(
        *("old", "", "vieux/vieille", "오래되/오래되/오래되어"),
        f"{_GOODS} place way tree {_GROWN} animal",
        before="vieil",
        said_of="",
        other="늙/늙으/늙어",
        other_kinds=_ALIVE,
    ),
    _adjective(
        *("new", "", "nouveau/nouvelle", "새/새/새", _GOODS),
        before="nouvel",
        said_of="",
        modifier="새",
    ),
    _adjective(
        *("young", "younger", "jeune", "젊/젊으/젊어", f"{_GROWN} animal"),
        before="jeune",
        other="어리/어리/어려",
        other_kinds="animal",
    ),
    _adjective(
        *("beautiful", "more beautiful", "beau/belle", "아름답/아름다우/아름다워"),
        "animal thing vehicle place way water height tree",
        before="bel",
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
    _adjective("kind", "", "gentil/gentille", "친절하", _PERSONS),
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
