"""Language codes, and what the name of a file says: its kind, its columns and its languages.

The codes are BCP 47's primary tags: the two letters of ISO 639-1 where a language has them, three
letters otherwise, and `und` for an undetermined one. A code labels a model, and chooses how lines
are split into sentences and how BLEU splits words; an unknown code is an error.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from heedful.errors import DataError

UNDETERMINED = "und"
_ONE_FILE = re.compile(r"\.(tsv|jsonl)(\.gz)?$", re.IGNORECASE)
_WITH_COLUMNS = re.compile(
    r"(?P<path>.+\.(?:tsv|jsonl)(?:\.gz)?):(?P<columns>[^:/\\]+)", re.IGNORECASE
)

_TABLE = """
aa:aar:afar ab:abk:abkhazian ae:ave:avestan af:afr:afrikaans ak:aka:akan am:amh:amharic
an:arg:aragonese ar:ara:arabic as:asm:assamese av:ava:avaric ay:aym:aymara az:aze:azerbaijani
ba:bak:bashkir be:bel:belarusian bg:bul:bulgarian bi:bis:bislama bm:bam:bambara bn:ben:bengali
bo:bod,tib:tibetan br:bre:breton bs:bos:bosnian ca:cat:catalan ce:che:chechen ch:cha:chamorro
co:cos:corsican cr:cre:cree cs:ces,cze:czech cu:chu:slavonic cv:chv:chuvash cy:cym,wel:welsh
da:dan:danish de:deu,ger:german dv:div:divehi dz:dzo:dzongkha ee:ewe:ewe el:ell,gre:greek
en:eng:english eo:epo:esperanto es:spa:spanish et:est,ekk:estonian eu:eus,baq:basque
fa:fas,per,pes:persian ff:ful:fulah fi:fin:finnish fj:fij:fijian fo:fao:faroese fr:fra,fre:french
fy:fry:frisian ga:gle:irish gd:gla:gaelic gl:glg:galician gn:grn:guarani gu:guj:gujarati
gv:glv:manx ha:hau:hausa he:heb:hebrew hi:hin:hindi ho:hmo:hirimotu hr:hrv:croatian ht:hat:haitian
hu:hun:hungarian hy:hye,arm:armenian hz:her:herero ia:ina:interlingua id:ind:indonesian
ie:ile:interlingue ig:ibo:igbo ii:iii:nuosu ik:ipk:inupiaq io:ido:ido is:isl,ice:icelandic
it:ita:italian iu:iku:inuktitut ja:jpn:japanese jv:jav:javanese ka:kat,geo:georgian kg:kon:kongo
ki:kik:kikuyu kj:kua:kuanyama kk:kaz:kazakh kl:kal:greenlandic km:khm:khmer kn:kan:kannada
ko:kor:korean kr:kau:kanuri ks:kas:kashmiri ku:kur,kmr:kurdish kv:kom:komi kw:cor:cornish
ky:kir:kyrgyz la:lat:latin lb:ltz:luxembourgish lg:lug:ganda li:lim:limburgish ln:lin:lingala
lo:lao:lao lt:lit:lithuanian lu:lub:lubakatanga lv:lav,lvs:latvian mg:mlg:malagasy
mh:mah:marshallese mi:mri,mao:maori mk:mkd,mac:macedonian ml:mal:malayalam mn:mon,khk:mongolian
mr:mar:marathi ms:msa,may,zsm:malay mt:mlt:maltese my:mya,bur:burmese na:nau:nauru nb:nob:bokmal
nd:nde:ndebele ne:nep,npi:nepali ng:ndo:ndonga nl:nld,dut:dutch nn:nno:nynorsk no:nor:norwegian
nr:nbl:southndebele nv:nav:navajo ny:nya:chichewa oc:oci:occitan oj:oji:ojibwa om:orm:oromo
or:ori,ory:odia os:oss:ossetian pa:pan:punjabi pi:pli:pali pl:pol:polish ps:pus,pbt:pashto
pt:por:portuguese qu:que:quechua rm:roh:romansh rn:run:rundi ro:ron,rum:romanian ru:rus:russian
rw:kin:kinyarwanda sa:san:sanskrit sc:srd:sardinian sd:snd:sindhi se:sme:sami sg:sag:sango
si:sin:sinhala sk:slk,slo:slovak sl:slv:slovenian sm:smo:samoan sn:sna:shona so:som:somali
sq:sqi,alb,als:albanian sr:srp:serbian ss:ssw:swati st:sot:sotho su:sun:sundanese sv:swe:swedish
sw:swa,swh:swahili ta:tam:tamil te:tel:telugu tg:tgk:tajik th:tha:thai ti:tir:tigrinya
tk:tuk:turkmen tl:tgl:tagalog tn:tsn:tswana to:ton:tongan tr:tur:turkish ts:tso:tsonga tt:tat:tatar
tw:twi:twi ty:tah:tahitian ug:uig:uyghur uk:ukr:ukrainian ur:urd:urdu uz:uzb,uzn:uzbek ve:ven:venda
vi:vie:vietnamese vo:vol:volapuk wa:wln:walloon wo:wol:wolof xh:xho:xhosa yi:yid,ydd:yiddish
yo:yor:yoruba za:zha:zhuang zh:zho,chi,cmn:chinese zu:zul:zulu
arz::egyptian ast::asturian ayr:: azb:: bar::bavarian bho::bhojpuri ceb::cebuano chr::cherokee
ckb::sorani csb::kashubian dsb:: fil::filipino fur::friulian gsw::alemannic haw::hawaiian
hsb::sorbian hmn::hmong ilo::ilocano jbo::lojban kab::kabyle kok::konkani lad::ladino lij::ligurian
lmo::lombard mai::maithili mni::manipuri nah::nahuatl nap::neapolitan nds:: nso:: pap::papiamento
pcm:: pms:: prs::dari quy:: sat::santali scn::sicilian sco::scots shn::shan szl::silesian
tet::tetum tlh::klingon tpi:: tok:: tzl:: umb:: vec::venetian war:: wuu:: yue::cantonese zgh::
"""

_MISTAKEN = {
    "jp": "ja",
    "cn": "zh",
    "cz": "cs",
    "gr": "el",
    "dk": "da",
    "ua": "uk",
    "vn": "vi",
    "deutsch": "de",
    "français": "fr",
    "español": "es",
    "한국어": "ko",
}
"""Countries often written for languages, and some names that are near to another one."""


_ENTRIES = [entry.split(":") for entry in _TABLE.split()]
_CODES = {code for code, _, _ in _ENTRIES}
_LONG_CODES = {long: code for code, longer, _ in _ENTRIES for long in longer.split(",") if long}
_NAMES = {name: code for code, _, name in _ENTRIES if name}
_WORDS = {"tok", "war", "her", "sun", "run", "may", "mac", "sat", "lad", "vol"}
"""Codes that are more often a word (train.tok, sat-scores) than a language."""
_ALL_CODES = {code: code for code in _CODES} | _LONG_CODES
_IN_NAMES = {long: code for long, code in _ALL_CODES.items() if long not in _WORDS} | _NAMES
"""What may be said of a language in the name of a file, to its code."""


def language_name(code: str) -> str:
    """Give a language's English name, or its code where no name is known."""
    primary = re.split("[-_]", code)[0]
    return next((name.capitalize() for name, known in _NAMES.items() if known == primary), code)


def primary_language(code: str) -> str:
    """Reduce `zh-Hant`, `zh_TW` and `zho` to `zh`."""
    low = re.split("[-_]", code)[0].lower()
    return _LONG_CODES.get(low, low)


def check_language(code: str) -> str:
    """Give a code in its usual spelling (`eng` is `en`, `PT_br` is `pt-BR`), or refuse it."""
    primary, *subtags = re.split("[-_]", code.strip())
    known = primary_language(primary)
    if known != UNDETERMINED and known not in _CODES:
        raise DataError(
            f"unknown language code {code!r}; expected an ISO 639 code such as en, ko or de"
            f"{_suggestion(primary.lower())}"
        )
    spelled = [known]
    for tag in subtags:
        if not re.fullmatch("[A-Za-z0-9]{2,8}", tag):
            raise DataError(
                f"language code {code!r} has the part {tag!r}; expected a region or script such as "
                f"pt-BR or zh-Hans; leave it out: {known}"
            )
        spelled.append(tag.upper() if len(tag) == 2 else tag.title() if len(tag) == 4 else tag)
    return "-".join(spelled)


def _suggestion(code: str) -> str:
    nearest = _MISTAKEN.get(code) or _NAMES.get(code)
    if nearest is None:
        words = _ALL_CODES | _NAMES
        close = difflib.get_close_matches(code, words, n=1)
        nearest = words[close[0]] if close else None
    return f"; did you mean {nearest}?" if nearest else f"; use {UNDETERMINED} for any other"


def languages_in(name: str) -> list[str]:
    """Find the languages the name of a file speaks of, in order.

    `europarl.de-en.tsv.gz` speaks of de and en, `train.pt-BR` of pt alone.
    """
    name = re.sub(r"(\.(gz|txt|tsv|jsonl|text))+$", "", name, flags=re.IGNORECASE)
    found: list[str] = []
    before = ""
    for token in re.findall("[^-._ +]+", name):
        low = token.lower()
        region = token.isupper() and len(token) == 2 and before.islower()
        if low in _IN_NAMES and not region:
            found.append(_IN_NAMES[low])
        before = token if low in _CODES else ""
    return found


def kind_of(path: Path) -> Literal["files", "tsv", "jsonl"]:
    """Tell a file that holds both sides from one of two files."""
    match = _ONE_FILE.search(path.name)
    if match is None:
        return "files"
    return "tsv" if match[1].lower() == "tsv" else "jsonl"


def separate_columns(path: Path) -> tuple[Path, tuple[str, str] | None]:
    """Take `file.tsv:2,3` apart, unless a file has that very name."""
    match = _WITH_COLUMNS.fullmatch(str(path))
    if match is None or path.exists():
        return path, None
    columns = [column.strip() for column in match["columns"].split(",")]
    if len(columns) != 2 or not all(columns):
        raise DataError(
            f"{path} names the columns {match['columns']!r}; expected two with a comma; "
            f"write {match['path']}:1,2"
        )
    return Path(match["path"]), (columns[0], columns[1])


def guess_languages(
    paths: Sequence[Path], columns: tuple[str, str] | None = None
) -> tuple[str, str]:
    """Read source and target language from the names of the files, `und` where they say nothing.

    Two files say one each (`train.ko train.en`), one file says both (`eng-kor.tsv`), turned round
    where its columns are (`eng-kor.tsv:2,1`). Keys of a JSONL that are codes are believed first.
    """
    if not paths:
        return UNDETERMINED, UNDETERMINED
    path, own = separate_columns(paths[0])
    if kind_of(path) != "files":
        return _languages_of_one(path, own or columns)
    ours = languages_in(path.name)
    theirs = languages_in(paths[1].name) if len(paths) > 1 else []
    if ours == theirs:  # de-en.source and de-en.target, or nothing at all
        return (ours[-2], ours[-1]) if len(ours) > 1 else (UNDETERMINED, UNDETERMINED)
    if not (ours and theirs and ours[-1] != theirs[-1]):  # else train.de-en.de, train.de-en.en
        ours, theirs = (
            [code for code in ours if code not in theirs],
            [code for code in theirs if code not in ours],
        )
    return ours[-1] if ours else UNDETERMINED, theirs[-1] if theirs else UNDETERMINED


def _languages_of_one(path: Path, columns: tuple[str, str] | None) -> tuple[str, str]:
    named = [languages_in(column) for column in columns or ()]
    if named and all(len(codes) == 1 for codes in named):
        return named[0][0], named[1][0]
    both = languages_in(path.name)[-2:]
    if len(both) < 2:
        return UNDETERMINED, UNDETERMINED
    numbers = [int(column) for column in columns or () if column.isdigit()]
    return (both[1], both[0]) if numbers != sorted(numbers) else (both[0], both[1])
