"""The verbs: their three names, who may do them and to what; prepositions and adverbs of time."""

from __future__ import annotations

from dataclasses import dataclass

from heedful.data.grammar import english, french, korean
from heedful.data.grammar.lexicon import LIVING, PEOPLE, of
from heedful.data.grammar.words import FrenchVerb, Noun, Tense, Verb

CAN = FrenchVerb("pouvoir", "peux peux peut pouvons peuvent", "pourr", "pu", state=True)
WANT = FrenchVerb("vouloir", "veux veux veut voulons veulent", "voudr", "voulu", state=True)
MUST = FrenchVerb("devoir", "dois dois doit devons doivent", "devr", "dû", state=True)
_SPECIAL = (
    WANT,
    french.regular("aimer", state=True),
    french.regular("rentrer", state=True),
    french.regular("arriver", etre=True),
    french.regular("tomber", etre=True),
    FrenchVerb("attendre", "attends attends attend attendons attendent", "attendr", "attendu"),
    FrenchVerb("dormir", "dors dors dort dormons dorment", "dormir", "dormi"),
    FrenchVerb("courir", "cours cours court courons courent", "courr", "couru"),
    FrenchVerb("partir", "pars pars part partons partent", "partir", "parti", etre=True),
    FrenchVerb("voir", "vois vois voit voyons voient", "verr", "vu"),
    FrenchVerb("suivre", "suis suis suit suivons suivent", "suivr", "suivi"),
    FrenchVerb("acheter", "achète achètes achète achetons achètent", "achèter", "acheté"),
    FrenchVerb("vendre", "vends vends vend vendons vendent", "vendr", "vendu"),
    FrenchVerb("perdre", "perds perds perd perdons perdent", "perdr", "perdu"),
    FrenchVerb("ouvrir", "ouvre ouvres ouvre ouvrons ouvrent", "ouvrir", "ouvert"),
    FrenchVerb("conduire", "conduis conduis conduit conduisons conduisent", "conduir", "conduit"),
    FrenchVerb("nettoyer", "nettoie nettoies nettoie nettoyons nettoient", "nettoier", "nettoyé"),
    FrenchVerb("écrire", "écris écris écrit écrivons écrivent", "écrir", "écrit"),
    FrenchVerb("envoyer", "envoie envoies envoie envoyons envoient", "enverr", "envoyé"),
    FrenchVerb("aller", "vais vas va allons vont", "ir", "allé", etre=True),
    FrenchVerb("dire", "dis dis dit disons disent", "dir", "dit"),
)
_SPECIAL_NAMED = {verb.infinitive: verb for verb in _SPECIAL}


def _verb(
    en: str, fr: str, ko: str, agents: tuple[Noun, ...], objects: tuple[Noun, ...] = ()
) -> Verb:
    """Read a verb; the English is "see saw", or "help" where the past is regular."""
    french_verb = _SPECIAL_NAMED.get(fr) or french.regular(fr)
    return Verb(english.verb(*en.split()), french_verb, korean.stem(ko), agents, objects)


_GOODS = of("thing food container furniture car motorcycle truck")

INTRANSITIVE = (
    _verb("sleep slept", "dormir", "자/자/자", LIVING),
    _verb("run ran", "courir", "달리/달리/달려", LIVING),
    _verb("walk", "marcher", "걷/걸으/걸어", LIVING),
    _verb("wait", "attendre", "기다리/기다리/기다려", LIVING),
    _verb("sing sang", "chanter", "노래하", PEOPLE),
    _verb("dance", "danser", "춤추/춤추/춤추어", PEOPLE),
    _verb("work", "travailler", "일하", PEOPLE),
    _verb("cry", "pleurer", "울/울/울어", PEOPLE),
    _verb("swim swam", "nager", "수영하", LIVING),
    _verb("fall fell", "tomber", "넘어지/넘어지/넘어져", LIVING),
    _verb("arrive", "arriver", "도착하", (*LIVING, *of("car truck bus train"))),
    _verb("leave left", "partir", "떠나/떠나/떠나", (*PEOPLE, *of("car truck bus train"))),
)

TRANSITIVE = (
    _verb("see saw", "voir", "보/보/보아", LIVING, (*LIVING, *of("vehicle thing house"))),
    _verb("love", "aimer", "사랑하", PEOPLE, LIVING),
    _verb("like", "aimer", "좋아하", PEOPLE, of("thing food place vehicle")),
    _verb("help", "aider", "돕/도우/도와", PEOPLE, LIVING),
    _verb("follow", "suivre", "따라가/따라가/따라가", LIVING, (*LIVING, *of("vehicle"))),
    _verb("find found", "trouver", "찾/찾으/찾아", LIVING, of("animal thing container")),
    _verb("meet met", "rencontrer", "만나/만나/만나", PEOPLE, PEOPLE),
    _verb("buy bought", "acheter", "사/사/사", PEOPLE, _GOODS),
    _verb("sell sold", "vendre", "팔/팔/팔아", PEOPLE, _GOODS),
    _verb("lose lost", "perdre", "잃어버리/잃어버리/잃어버려", PEOPLE, of("thing bag suitcase")),
    _verb("want", "vouloir", "원하", PEOPLE, _GOODS),
    _verb("open", "ouvrir", "열/열/열어", PEOPLE, of("container")),
    _verb("close", "fermer", "닫/닫으/닫아", PEOPLE, of("container")),
    _verb("carry", "porter", "나르/나르/날라", PEOPLE, of("container furniture thing")),
    _verb(
        "draw drew", "dessiner", "그리/그리/그려", PEOPLE, of("animal flower hat guitar house tree")
    ),
    _verb("eat ate", "manger", "먹/먹으/먹어", LIVING, of("food")),
    _verb("drive drove", "conduire", "운전하", PEOPLE, of("car truck bus train")),
    _verb("break broke", "casser", "깨뜨리/깨뜨리/깨뜨려", LIVING, of("lamp bottle mirror clock")),
    _verb(
        "clean",
        "nettoyer",
        "청소하",
        PEOPLE,
        of("house kitchen school museum library station hospital"),
    ),
    _verb("write wrote", "écrire", "쓰/쓰/써", PEOPLE, of("letter book")),
    _verb("cross", "traverser", "건너/건너/건너", LIVING, of("way water")),
    _verb("climb", "escalader", "오르/오르/올라", LIVING, of("height")),
    Verb(
        english.verb("have", "had", "has"),
        french.AVOIR,
        korean.stem("가지고 있/가지고 있으/가지고 있어", verb=False, modifier="가지고 있는"),
        PEOPLE,
        of("thing container car motorcycle truck"),
    ),
)
STATES = frozenset({"love", "like", "want", "have"})
"""Their past is a state, for which a Korean relative clause has another form than MODIFY."""

GIVING = (
    _verb("give gave", "donner", "주/주/주어", PEOPLE, of("thing food")),
    _verb("show showed", "montrer", "보여 주/보여 주/보여 주어", PEOPLE, of("thing animal")),
    _verb("send sent", "envoyer", "보내/보내/보내", PEOPLE, of("thing")),
)
GO = _verb("go went", "aller", "가/가/가", PEOPLE, of("place"))
FIT = _verb(
    "fit fitted",
    "rentrer",
    "들어가/들어가/들어가",
    of("ball hat lamp clock umbrella guitar bottle doll mirror trophy"),
    of("container"),
)
REPORTING = (
    _verb("think thought", "penser", "생각하", PEOPLE),
    _verb("say said", "dire", "말하", PEOPLE),
)
VERB_NAMED = {verb.lemma: verb for verb in (*INTRANSITIVE, *TRANSITIVE, *GIVING, GO, FIT)}


@dataclass(frozen=True)
class Preposition:
    """Where something is. `fr` ends in "de" or is "à" where it contracts with the article."""

    en: str
    fr: str
    ko: str
    """The noun of position, after a space (" 위"), or nothing where Korean needs none."""
    things: tuple[Noun, ...]


_LANDMARKS = of("house school museum station library hospital park tree bridge")
_IN = Preposition("in", "dans", "", of("garden house kitchen park school museum library hospital"))
_AT = Preposition("at", "à", "", of("market station school museum library hospital"))
ON = Preposition("on", "sur", " 위", of("furniture"))
_UNDER = Preposition("under", "sous", " 아래", of("table bed bench tree bridge"))
BESIDE = (
    Preposition("behind", "derrière", " 뒤", _LANDMARKS),
    Preposition("in front of", "devant", " 앞", _LANDMARKS),
    Preposition("near", "près de", " 근처", _LANDMARKS),
    Preposition("next to", "à côté de", " 옆", _LANDMARKS),
)
AROUND = (_IN, _AT, *BESIDE)
FOR_PEOPLE = (
    *AROUND,
    Preposition("on", "sur", " 위", of("chair bed bench")),
    Preposition("under", "sous", " 아래", of("tree bridge")),
)
FOR_PETS = (_IN, *BESIDE, ON, _UNDER)
FOR_BAGS = (ON, _UNDER)
FOR_THINGS = (*FOR_BAGS, Preposition("in", "dans", " 안", of("container")))

TIMES = {
    Tense.PRESENT: ((" every day", " tous les jours", "매일 "),),
    Tense.PAST: ((" yesterday", " hier", "어제 "), (" today", " aujourd'hui", "오늘 ")),
    Tense.FUTURE: ((" tomorrow", " demain", "내일 "), (" today", " aujourd'hui", "오늘 ")),
}

TRAVEL_BY = (
    ("bus", "bus", "버스"),
    ("car", "voiture", "자동차"),
    ("train", "train", "기차"),
    ("truck", "camion", "트럭"),
    ("subway", "métro", "지하철"),
)
"""What one may go by, in the three languages."""
