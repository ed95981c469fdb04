"""Laws of suspicions: what each page comes under, that articles about the same things come under none, and their cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import shared

from groundkit.adapters.html.extractor import HtmlExtractor
from groundkit.core import suspicion_wording as wording
from groundkit.core.extraction import Extraction, Hint
from groundkit.core.result import Success
from groundkit.core.suspicions import (
    CONSENT_WALL,
    HUMAN_CHECK,
    LITTLE_TEXT,
    LOGIN_PAGE,
    LOGIN_REDIRECT,
    NEEDS_SCRIPTS,
    NO_TEXT,
    NOTHING_FOUND,
    plain,
    suspicions,
)

HTML = "text/html"
ALL = {
    *(CONSENT_WALL, HUMAN_CHECK, LITTLE_TEXT, LOGIN_PAGE, LOGIN_REDIRECT, NEEDS_SCRIPTS, NO_TEXT, NOTHING_FOUND),
}
ARTICLE = (
    "The tide tables of the northern coast were first printed by a schoolmaster who had counted waves for eleven years. "
    "Fishermen trusted his figures more than those of the admiralty, and they had reason to: on the night of the great "
    "flood the admiralty was wrong by an hour and a half. His notebooks are kept in the harbour office. "
)
NAV = "<nav><a href=/>Home</a> <a href=/news>News</a> <a href=/about>About us</a> <a href=/login>Log in</a></nav>"
FOOT = "<footer>© Example Ltd · <a href=/imprint>Imprint</a> · <a href=/privacy>Privacy policy</a></footer>"


def page(title: str, body: str, head: str = "") -> bytes:
    return f"<!DOCTYPE html><meta charset=utf-8><title>{title}</title>{head}<body>{body}".encode()


def extracted(data: bytes) -> Extraction:
    match HtmlExtractor().extract(data, Hint(HTML)):
        case Success(extraction):
            return extraction
        case _:
            return Extraction("")


def found(data: bytes) -> tuple[str, ...]:
    extraction = extracted(data)
    return suspicions(HTML, data, extraction.text, extraction.title)


def site(title: str, *paragraphs: str) -> bytes:
    return page(title, NAV + "".join(f"<p>{each}</p>" for each in paragraphs) + FOOT)


def error(title: str, heading: str, *paragraphs: str) -> bytes:
    return page(title, f"{NAV}<h1>{heading}</h1>" + "".join(f"<p>{each}</p>" for each in paragraphs) + FOOT)


CONSENT_PAGES = {
    "en": site(
        "Daily Example",
        "We value your privacy",
        "We and our partners store and/or access information on a device, such as cookies, and process personal data for "
        "personalised ads. You may click to consent to this, or refuse.",
        "Accept all",
        "Manage options",
    ),
    "en-search": page(
        "Before you continue to Example Search",
        "<h1>Before you continue to Example Search</h1><p>We use cookies and data to deliver and maintain our services."
        "<p>If you choose “Accept all”, we will also use them to develop new ones.<p>Reject all<p>Accept all",
    ),
    "en-prose": site(
        "Your privacy choices",
        "When you use our sites and apps, we use cookies. If you agree, we and our partners, of whom 237 are part of a "
        "framework of the advertising industry, will also store and/or access information on a device (in other words, use "
        "cookies) and use precise location data and other personal data such as addresses and browsing and search data, for "
        "analytics, personalised ads and content, measuring what ads achieve, audience research and the development of "
        "services.",
        "If you do not want us and our partners to use cookies and personal data for these further purposes, choose ‘Reject "
        "all’. To set your choices, choose ‘Manage privacy settings’.",
        "You can take back your consent or change your choices at any time under the links ‘Privacy dashboard’ or ‘Cookie "
        "settings’ on our sites. More is said in our privacy policy and our cookie policy.",
        "Accept all",
        "Reject all",
        "Manage privacy settings",
    ),
    "de": site(
        "Beispielblatt",
        "Mit Werbung weiterlesen",
        "Besuchen Sie uns wie gewohnt mit Werbung und Cookies. Wir verwenden Cookies und ähnliche Techniken. Einzelheiten "
        "stehen in unserer Datenschutzerklärung.",
        "Alle akzeptieren",
        "Einstellungen verwalten",
    ),
    "fr": site(
        "Le Quotidien",
        "Nous respectons votre vie privée",
        "Avec votre accord, nos partenaires et nous utilisons des cookies pour mesurer l’audience.",
        "Continuer sans accepter",
        "Tout accepter",
    ),
    "es": site(
        "El Diario", "Valoramos tu privacidad", "Nosotros y nuestros socios utilizamos cookies.", "Aceptar todo"
    ),
    "it": site(
        "Il Giornale", "Questo sito utilizza cookie di terze parti.", "Accetta tutto", "Continua senza accettare"
    ),
    "nl": site("De Krant", "Wij gebruiken cookies om artikelen te tonen die bij je passen.", "Alles accepteren"),
    "pt": site("O Jornal", "Valorizamos a sua privacidade", "Este site utiliza cookies.", "Aceitar todos os cookies"),
    "pl": site("Gazeta", "Cenimy Twoją prywatność", "Ta strona używa plików cookie.", "Zaakceptuj wszystkie"),
    "ja": site("新聞", "当サイトではクッキーを使用しています。", "すべて同意する", "Cookieの設定"),
}
NOT_FOUND_PAGES = {
    "en": error("Page not found | Example", "Oops!", "Perhaps the search helps.", ARTICLE[:200]),
    "en-heading": error("Example", "404", "Sorry, the page you are looking for has wandered off.", ARTICLE[:200]),
    "en-quiet": error("Example", "Hello there", "The page you requested no longer exists.", "Try the search."),
    "en-apostrophe": error("This page isn’t available", "Nope", ARTICLE[:200]),
    "de": error("Fehler 404: Seite nicht gefunden – Beispiel", "Hoppla", "Die gewünschte Seite gibt es nicht."),
    "fr": error("Exemple", "Page introuvable", "La page que vous recherchez a été déplacée.", ARTICLE[:300]),
    "es": error("Error 404 - Página no encontrada", "¡Vaya!", "Vuelve a la portada."),
    "it": error("Esempio", "Pagina non trovata", "Torna alla prima pagina."),
    "nl": error("Pagina niet gevonden | Voorbeeld", "Helaas", "Ga terug naar de voorpagina."),
    "pt": error("Exemplo", "Página não encontrada", "Volte ao início."),
    "pl": error("Przykład", "Strona nie istnieje", "Wróć na stronę główną."),
    "ja": error("例", "ページが見つかりません", "お探しのページは移動したか、削除されました。"),
    "zh": error("页面不存在 - 例子", "抱歉", "请返回首页。"),
    "ru": error("Ошибка 404. Страница не найдена", "Увы", "Вернитесь на главную."),
}
LOGIN_PAGES = {
    "en": page("Sign in · Example", "<form>User <input name=u> Password <input name=p type='password'></form>"),
    "en-name": page("Log in to Example", f"<p>{ARTICLE[:150]}</p>"),
    "en-quiet": page(
        "Example", "<form>Mail <input name=m> <INPUT class=x TYPE = password name=p> <button>Go</button></form>"
    ),
    "de": page("Anmelden – Beispiel", "<p>Benutzername</p><p>Weiter</p>"),
    "fr": page("Exemple", "<h1>Connexion</h1><p>Adresse électronique</p><p>Mot de passe oublié ?</p>"),
    "es": page("Iniciar sesión | Ejemplo", "<p>Correo</p>"),
    "pl": page("Zaloguj się do Przykład", "<p>Adres e-mail</p>"),
    "ja": page("例", "<h1>ログイン</h1><p>メールアドレス</p>"),
}
REDIRECTS = {
    "refresh": page("Example", "<p>One moment", "<meta http-equiv=refresh content='0; url=/users/sign_in?next=%2Fa'>"),
    "refresh-turned": page(
        "Example", "<p>One moment", '<META content="0;URL=https://sso.example/x" HTTP-EQUIV="Refresh">'
    ),
    "script": page(
        "Example", "<p>One moment", "<script>window.location.href = 'https://id.example/oauth2/authorize?x=1'</script>"
    ),
    "replace": page("Example", '<p>One moment<script>location.replace("/login")</script>'),
    "utf-16": page("Example", "<p>Moment", "<meta http-equiv=refresh content='0;url=/login'>")
    .decode()
    .encode("utf-16"),
}
SCRIPT_PAGES = {
    "en": page("App", "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>"),
    "en-long": site(
        "App", "JavaScript is disabled in your browser. Please enable JavaScript to proceed.", ARTICLE[:300]
    ),
    "de": site("App", "Bitte aktivieren Sie JavaScript, um diese Seite zu sehen."),
    "fr": site("App", "Veuillez activer JavaScript pour continuer."),
    "ja": site("App", "このアプリを使うにはJavaScriptを有効にしてください。"),
    "ru": site("App", "Пожалуйста, включите JavaScript в браузере."),
}
HUMAN_PAGES = {
    "en": page(
        "Just a moment...",
        "<h1>example.com</h1><p>Checking your browser before accessing example.com.<p>This process is automatic. Your "
        "browser will be sent on shortly.<p>DDoS protection by Example<p>Ray ID: 1234",
    ),
    "en-human": page(
        "example.com", "<p>Verify you are human by completing the action below.<p>example.com needs to review."
    ),
    "en-captcha": page("Access denied", "<p>Solve the captcha to go on."),
    "de": page("Beispiel", "<p>Bitte bestätigen Sie, dass Sie ein Mensch sind."),
    "fr": page("Exemple", "<p>Vérifiez que vous êtes humain en cochant la case."),
    "es": page("Ejemplo", "<p>Marca la casilla: no soy un robot."),
    "ja": page("例", "<p>あなたが人間であることを確認します。少々お待ちください。"),
}
SUSPECT = {
    CONSENT_WALL: CONSENT_PAGES,
    NOTHING_FOUND: NOT_FOUND_PAGES,
    LOGIN_PAGE: LOGIN_PAGES,
    LOGIN_REDIRECT: REDIRECTS,
    NEEDS_SCRIPTS: SCRIPT_PAGES,
    HUMAN_CHECK: HUMAN_PAGES,
}
EACH = [
    pytest.param(said, data, id=f"{said[-20:]}-{name}")
    for said, pages in SUSPECT.items()
    for name, data in pages.items()
]


@pytest.mark.parametrize(("said", "data"), EACH)
def test_a_page_that_is_not_what_it_was_fetched_for_is_told_as_what_it_is(said: str, data: bytes) -> None:
    assert set(found(data)) - {LITTLE_TEXT} == {said}


ORDINARY = {
    "cookies": site(
        "What the cookie banner law asks of small sites",
        "A banner that says “we use cookies” and offers nothing but “accept all” has not been lawful since the ruling. "
        "What matters is that refusing takes no more clicks than accepting, and that nothing is stored before.",
        "Shops with few visitors often need no banner at all, for a basket is necessary for what the visitor asked for. "
        "Whoever counts visits without storing anything on their device needs no consent either.",
        ARTICLE,
    ),
    "banner": site(
        "Tide tables", ARTICLE, ARTICLE, "We use cookies to count our visitors. Accept all. Reject all. Cookie policy."
    ),
    "status": site(
        "How to design a good 404 page",
        "A reader who meets “page not found” has done nothing wrong. Say what happened, offer a search, and answer with the "
        "status 404 rather than 200, or crawlers will keep the page for ever.",
        ARTICLE,
    ),
    "status-zh": site("如何设计404页面", "当用户看到“页面不存在”的时候，网站应该提供搜索框和返回首页的链接。" * 5),
    "list": site(
        "Status codes", "200 OK", "301 Moved Permanently", "404 Not Found", "500 Internal Server Error", ARTICLE
    ),
    "login": site(
        "Why we moved the login form",
        "People who wanted to sign in looked for the form at the top right, and so we put it there. The number of forgotten "
        "passwords did not change.",
        ARTICLE,
    ),
    "captcha": site(
        "The end of the captcha",
        "For twenty years sites have asked us to prove that we are people by reading bent letters. Machines now read them "
        "better than we do, and so the captcha has begun to vanish.",
        ARTICLE,
    ),
    "scripts": site(
        "Menus that work everywhere",
        "A menu made of a list and a details element opens without scripts, and for those who enable JavaScript it can be "
        "made to close by itself.",
        ARTICLE,
    ),
    "comments": page(
        "Tides",
        f"{NAV}<p>{ARTICLE}<noscript>Please enable JavaScript to view the comments powered by Example.</noscript>{FOOT}",
    ),
    "moved": page(
        "Tides", f"<p>{ARTICLE}", "<meta http-equiv=refresh content='300'><script>go(location.href)</script>"
    ),
    "german": site("Gezeiten", "Die Anmeldung zum Kurs ist bis Mai möglich, der Zugang zum Archiv ist frei. " * 4),
    "members": page("Tides", NAV + f"<p>{ARTICLE}" * 6 + "<form>Members: <input name=p type=password></form>"),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_an_article_about_such_pages_comes_under_no_suspicion(name: str) -> None:
    assert found(ORDINARY[name]) == ()


#: Nothing but a list of a few addresses.
REALLY_SMALL = {"aug32.hole.ru.xml"}


def test_no_page_of_the_corpora_comes_under_suspicion_but_one_with_hardly_any_text() -> None:
    paths = [path for folder in ("python-docs", "encodings") for path in shared(f"data/html/{folder}").rglob("*.*ml")]
    told = {(path.name, each) for path in paths for each in found(path.read_bytes())}
    unreadable = {name for name, each in told if each == NO_TEXT}
    assert len(paths) > 90 and len(unreadable) < 10
    assert told - {(name, NO_TEXT) for name in unreadable} == {(name, LITTLE_TEXT) for name in REALLY_SMALL}


def test_no_text_of_the_corpora_comes_under_suspicion_even_read_as_a_page() -> None:
    count = 0
    for path in sorted(shared("data/text").rglob("*")):
        if path.suffix not in (".md", ".txt") or (data := path.read_bytes()).startswith(b"\xff"):
            continue
        text = data.decode("utf-8", "replace")
        title = text.partition("\n")[0].strip("# ")
        count += 1
        assert suspicions("text/markdown", data, text, title) == (), path
        assert set(suspicions(HTML, data, text, title)) <= {LITTLE_TEXT}, path
    assert count > 500


# Laws


@given(
    st.sampled_from([HTML, "text/plain", "text/markdown", "application/pdf"]), st.text(" \t\n\u3000\x0c", max_size=20)
)
def test_a_text_of_blanks_is_none(media_type: str, text: str) -> None:
    assert suspicions(media_type, b"", text, "Page not found") == (NO_TEXT,)


pieces = st.sampled_from(
    [*wording.CONSENT, *wording.NOT_FOUND_SAID, *wording.HUMANS, *wording.SCRIPTS, *sorted(wording.LOGIN)]
)
texts = st.lists(pieces | st.text(max_size=12), max_size=12).map("\n".join)
markup = st.lists(
    st.sampled_from(
        [b"<input ", b"type=password", b"<meta ", b"refresh", b" url=/login", b">", b"location=", b"'", b"\0"]
    )
)


@given(
    st.sampled_from([HTML, "application/xhtml+xml", "text/plain", "text/markdown", "", "application/pdf"]),
    texts,
    texts,
    markup,
)
def test_every_page_has_known_suspicions_each_once(media: str, text: str, title: str, body: list[bytes]) -> None:
    told = suspicions(media, b"".join(body), text, title)
    assert set(told) <= ALL and len(set(told)) == len(told)
    assert suspicions(media, b"".join(body), text, title) == told


@given(texts, texts)
def test_a_pdf_is_never_judged_by_its_wording(text: str, title: str) -> None:
    assert suspicions("application/pdf", b"%PDF-", f"x{text}", title) == ()


@given(texts, texts)
def test_a_body_that_is_the_text_is_no_form_and_never_too_small(text: str, title: str) -> None:
    body = b"<input type=password><meta http-equiv=refresh content='0;url=/login'>"
    told = suspicions("text/plain", body, f"x{text}", title)
    assert not {LITTLE_TEXT, LOGIN_PAGE, LOGIN_REDIRECT} & set(told)


@given(texts)
def test_a_long_article_comes_under_no_suspicion_for_what_follows_its_beginning(text: str) -> None:
    assert suspicions(HTML, b"", ARTICLE * 15 + text, "Tide tables") == ()


def test_a_long_text_of_nothing_but_consent_comes_under_suspicion() -> None:
    vendor = (
        "We value your privacy. Example Vendor and our partners: legitimate interest, privacy policy, cookie policy. "
    )
    assert suspicions(HTML, b"", vendor * 60, "News") == (CONSENT_WALL,)


@given(st.text("aé", min_size=1, max_size=300))
def test_little_text_is_fewer_than_200_letters(text: str) -> None:
    assert (LITTLE_TEXT in suspicions(HTML, b"", text, "")) == (len(text) < 200)


@given(st.text("漢字かな", min_size=1, max_size=150))
def test_a_letter_of_chinese_or_japanese_is_worth_two(text: str) -> None:
    assert (LITTLE_TEXT in suspicions(HTML, b"", text, "")) == (len(text) < 100)


@pytest.mark.parametrize(
    "table", ["CONSENT", "CONSENT_BESIDE", "NOT_FOUND_SAID", "LOGIN_BEGINS", "LOGIN_ENDS", "SCRIPTS", "HUMANS"]
)
def test_wording_is_in_the_form_in_which_it_is_compared(table: str) -> None:
    """The blank at the end of what a title begins with is meant."""
    phrases: tuple[str, ...] = getattr(wording, table)
    assert len(set(phrases)) == len(phrases)
    assert [plain(each) for each in phrases] == [each.strip() for each in phrases]


@pytest.mark.parametrize("phrase", sorted(wording.NOT_FOUND))
def test_each_title_of_nothing_found_is_told_with_the_number_and_the_name_of_the_site(phrase: str) -> None:
    for title in (phrase.upper(), f"404 - {phrase}", f"{phrase} | Example", f"Example – Error 404: {phrase}!"):
        assert NOTHING_FOUND in suspicions(HTML, b"", ARTICLE, title)


@pytest.mark.parametrize("phrase", sorted(wording.LOGIN))
def test_each_title_of_a_login_page_is_told_with_the_name_of_the_site(phrase: str) -> None:
    for title in (phrase.upper(), f"{phrase} · Example", f"Example: {phrase}"):
        assert LOGIN_PAGE in suspicions(HTML, b"", ARTICLE, title)


HOSTILE = [
    "<meta ",
    "<input ",
    "<input type",
    "<input type=",
    "location=",
    "location.replace(",
    "url=",
    "'",
    "<",
    "404 ",
    "- ",
    "|",
    "\n",
    "  ",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_page_is_looked_at_in_part_and_once(piece: str) -> None:
    """Quadratic work over these 4 MB would not end."""
    body = (piece * (1 << 22)).encode()[: 1 << 22]
    text = "x\n" + piece * 700
    for media_type in (HTML, "text/plain"):
        for said in (text[:1400], text, text * 2000):
            assert set(suspicions(media_type, body, said, text)) <= ALL
