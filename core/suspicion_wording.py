"""What pages say that are not the page that was asked for, in the languages in which it is most often read.

In the form of `suspicions.plain`: NFKC, case folded, single blanks, straight apostrophes, no dotless i.
"""

#: Said in a request for consent, and hardly anywhere else.
CONSENT = (
    "we use cookies", "this site uses cookies", "this website uses cookies", "uses cookies and similar", "accept all cookies",
    "reject all cookies", "accept cookies", "cookie settings", "cookie preferences", "manage cookies", "we value your privacy",
    "we care about your privacy", "your privacy choices", "store and/or access information on a device",
    "before you continue to", "our partners process", "consent to the use of cookies",
    "wir verwenden cookies", "wir nutzen cookies", "diese website verwendet cookies", "alle cookies akzeptieren",
    "cookie-einstellungen", "cookies zulassen", "ihre privatsphäre ist uns wichtig", "wir schätzen ihre privatsphäre",
    "mit werbung weiterlesen", "einwilligung widerrufen", "bevor sie fortfahren",
    "nous utilisons des cookies", "ce site utilise des cookies", "accepter les cookies", "continuer sans accepter",
    "paramétrer les cookies", "gérer les cookies", "nous respectons votre vie privée", "votre vie privée est importante",
    "utilizamos cookies", "usamos cookies", "este sitio utiliza cookies", "esta web utiliza cookies", "aceptar todas las cookies",
    "aceptar cookies", "configurar cookies", "configuración de cookies", "nos importa tu privacidad",
    "valoramos su privacidad", "valoramos tu privacidad",
    "utilizziamo i cookie", "utilizziamo cookie", "questo sito utilizza cookie", "questo sito utilizza i cookie",
    "accetta tutti i cookie", "accetta i cookie", "continua senza accettare", "impostazioni dei cookie",
    "teniamo alla tua privacy", "la tua privacy è importante",
    "wij gebruiken cookies", "we gebruiken cookies", "deze website gebruikt cookies", "deze site gebruikt cookies",
    "alle cookies accepteren", "cookies accepteren", "cookie-instellingen", "cookies weigeren", "wij respecteren uw privacy",
    "este site utiliza cookies", "este site usa cookies", "aceitar todos os cookies", "aceitar cookies", "definições de cookies",
    "configurações de cookies", "valorizamos a sua privacidade", "valorizamos sua privacidade",
    "używamy plików cookie", "ta strona używa plików cookie", "ta strona korzysta z plików cookie",
    "zaakceptuj wszystkie", "akceptuj wszystkie", "ustawienia plików cookie", "ustawienia cookies", "cenimy twoją prywatność",
    "szanujemy twoją prywatność",
    "vi använder cookies", "vi använder kakor", "godkänn alla", "acceptera alla cookies", "vi bruger cookies",
    "vi bruker informasjonskapsler", "accepter alle cookies", "godta alle", "käytämme evästeitä", "hyväksy kaikki evästeet",
    "používáme soubory cookie", "používáme cookies", "přijmout všechny", "sütiket használunk", "çerezleri kullaniyoruz",
    "çerez kullaniyoruz", "мы используем файлы cookie", "мы используем cookie", "принять все cookie",
    "クッキーを使用しています", "cookieを使用しています", "すべてのcookieを許可", "すべて同意する", "cookieの設定", "cookieに同意",
    "我们使用cookie", "本网站使用cookie", "接受所有cookie", "接受全部cookie", "我們使用cookie", "本網站使用cookie",
    "쿠키를 사용합니다", "모든 쿠키 허용", "모든 쿠키 수락",
)  # fmt: skip

#: Said beside it, and elsewhere too.
CONSENT_BESIDE = (
    "accept all", "reject all", "manage preferences", "manage options", "privacy settings", "cookie policy", "privacy policy",
    "our partners", "legitimate interest", "personalised ads", "personalized ads", "alle akzeptieren", "alle ablehnen",
    "datenschutzerklärung", "unsere partner", "einstellungen verwalten", "tout accepter", "tout refuser", "nos partenaires",
    "en savoir plus", "aceptar todo", "rechazar todo", "política de cookies", "nuestros socios", "accetta tutto",
    "rifiuta tutto", "i nostri partner", "informativa sui cookie", "alles accepteren", "alles weigeren", "onze partners",
    "aceitar tudo", "rejeitar tudo", "nossos parceiros", "odrzuć wszystkie", "nasi partnerzy", "polityka prywatności",
    "すべて許可", "すべて受け入れる", "すべて拒否", "プライバシーポリシー", "同意する", "接受全部", "全部接受", "隐私政策", "모두 수락",
)  # fmt: skip

#: All that a title, a heading or a first line says where nothing was found, without the words of NOT_FOUND_NOISE.
NOT_FOUND = frozenset((
    "not found", "page not found", "file not found", "page can't be found", "page cannot be found", "page could not be found",
    "page couldn't be found", "this page can't be found", "we can't find that page", "we couldn't find that page",
    "page doesn't exist", "page does not exist", "this page does not exist", "this page doesn't exist", "nothing found",
    "nothing was found", "page no longer available", "page unavailable", "page not available", "this page isn't available",
    "nothing here", "content not found", "article not found", "document not found",
    "nicht gefunden", "seite nicht gefunden", "seite wurde nicht gefunden", "diese seite wurde nicht gefunden",
    "seite konnte nicht gefunden werden", "die seite wurde nicht gefunden", "seite existiert nicht", "seite nicht verfügbar",
    "diese seite existiert nicht", "page non trouvée", "page introuvable", "page inexistante", "cette page n'existe pas",
    "page pas trouvée", "page non trouvee", "contenu introuvable", "cette page est introuvable", "página no encontrada",
    "pagina no encontrada", "no encontrado", "no encontrada", "página no existe", "esta página no existe",
    "pagina non trovata", "non trovata", "pagina inesistente", "questa pagina non esiste", "pagina niet gevonden",
    "niet gevonden", "deze pagina bestaat niet", "página não encontrada", "página não existe", "não encontrado",
    "não encontrada", "esta página não existe", "strona nie została znaleziona", "nie znaleziono strony",
    "strona nie istnieje", "nie znaleziono", "sidan hittades inte", "sidan kunde inte hittas", "sidan finns inte",
    "siden blev ikke fundet", "siden findes ikke", "siden ble ikke funnet", "fant ikke siden", "siden finnes ikke",
    "sivua ei löydy", "sivua ei löytynyt", "stránka nenalezena", "stránka nebyla nalezena", "stránka nenájdená",
    "az oldal nem található", "pagina nu a fost găsită", "sayfa bulunamadi", "η σελίδα δεν βρέθηκε",
    "страница не найдена", "страница не существует", "не найдено", "сторінку не знайдено", "страницата не е намерена",
    "ページが見つかりません", "ページが見つかりませんでした", "お探しのページは見つかりません", "お探しのページは見つかりませんでした",
    "ページは存在しません", "指定されたページが見つかりません", "页面不存在", "页面未找到", "找不到页面", "找不到该页面", "未找到页面",
    "頁面不存在", "找不到網頁", "找不到頁面", "페이지를 찾을 수 없습니다", "الصفحة غير موجودة", "لم يتم العثور على الصفحة",
    "הדף לא נמצא", "पृष्ठ नहीं मिला", "không tìm thấy trang", "halaman tidak ditemukan", "ไม่พบหน้าที่คุณต้องการ",
))  # fmt: skip
NOT_FOUND_NOISE = frozenset((
    "404", "410", "http", "error", "errors", "status", "code", "oops", "whoops", "uh", "oh", "sorry", "hoppla", "ups", "fehler",
    "erreur", "oups", "désolé", "errore", "spiacenti", "fout", "helaas", "erro", "błąd", "fel", "fejl", "feil", "virhe", "chyba",
    "hiba", "eroare", "hata", "σφάλμα", "ошибка", "помилка", "грешка", "エラー", "错误", "錯誤", "오류", "lo", "siento", "sentimos",
))  # fmt: skip

#: Said in a sentence of such a page.
NOT_FOUND_SAID = (
    "page you are looking for", "page you're looking for", "page you were looking for", "page you requested",
    "page you tried to reach", "requested page could not be found", "requested url was not found", "no longer exists",
    "page has been moved or deleted", "die angeforderte seite", "die von ihnen gesuchte seite", "die gewünschte seite",
    "la page que vous recherchez", "la page que vous cherchez", "la page demandée", "la página que buscas",
    "la página que está buscando", "la página solicitada", "la pagina che stai cercando", "la pagina che cerchi",
    "la pagina richiesta", "de pagina die u zoekt", "de pagina die je zoekt", "de opgevraagde pagina",
    "a página que procura", "a página que você procura", "a página solicitada", "strona, której szukasz",
    "żądana strona", "sidan du söker", "siden du leder efter", "siden du leter etter", "запрашиваемая страница",
    "お探しのページ", "ご指定のページ", "您访问的页面", "您要查找的页面", "您要找的頁面", "요청하신 페이지",
)  # fmt: skip

#: All that a title or a first line says on a login page.
LOGIN = frozenset((
    "sign in", "signin", "log in", "login", "log on", "logon", "sign in or sign up", "sign in or create an account",
    "log in or sign up", "sign in required", "login required", "please sign in", "please log in", "please login",
    "you must be logged in", "you must log in", "sign in to continue", "log in to continue", "member login", "single sign on",
    "anmelden", "anmeldung", "einloggen", "bitte anmelden", "bitte melden sie sich an", "bitte loggen sie sich ein",
    "anmeldung erforderlich", "connexion", "se connecter", "connectez vous", "identifiez vous", "identification",
    "iniciar sesión", "inicia sesión", "inicio de sesión", "acceder", "identifícate", "accedi", "accesso", "effettua il login",
    "inloggen", "aanmelden", "log in om verder te gaan", "entrar", "iniciar sessão", "fazer login", "faça login",
    "faça o login", "zaloguj się", "zaloguj", "logowanie", "logga in", "log ind", "logg inn", "kirjaudu sisään", "kirjaudu",
    "přihlášení", "přihlásit se", "prihlásenie", "bejelentkezés", "autentificare", "giriş yap", "oturum aç", "σύνδεση",
    "войти", "вход", "авторизация", "увійти", "вхід", "ログイン", "サインイン", "会員ログイン", "登录", "登錄", "登入", "用户登录",
    "로그인", "تسجيل الدخول", "התחברות", "लॉग इन करें", "đăng nhập", "masuk", "เข้าสู่ระบบ",
))  # fmt: skip
#: What a title begins with that names what is logged in to, and ends with where the language puts it so.
LOGIN_BEGINS = (
    "sign in to ", "log in to ", "login to ", "sign in with ", "anmelden bei ", "bei der anmeldung ", "se connecter à ",
    "connexion à ", "iniciar sesión en ", "inicia sesión en ", "accedi a ", "inloggen bij ", "inloggen op ", "entrar no ",
    "zaloguj się do ", "logga in på ", "войти в ", "вход в ",
)  # fmt: skip
LOGIN_ENDS = ("にログイン", "へログイン", "に サインイン", "にサインイン", "に로그인")

#: Said where nothing is shown without scripts.
SCRIPTS = (
    "enable javascript", "javascript is disabled", "javascript is not enabled", "javascript disabled", "javascript is required",
    "requires javascript", "javascript must be enabled", "turn on javascript", "activate javascript", "without javascript",
    "doesn't work properly without javascript", "need to enable javascript to run this app", "allow javascript",
    "javascript aktivieren", "aktivieren sie javascript", "aktiviere javascript", "javascript ist deaktiviert",
    "benötigt javascript", "javascript ist erforderlich", "activer javascript", "activez javascript", "javascript est désactivé",
    "javascript doit être activé", "nécessite javascript", "habilitar javascript", "habilite javascript", "habilita javascript",
    "activar javascript", "active javascript", "activa javascript", "javascript está desactivado", "requiere javascript",
    "abilitare javascript", "abilita javascript", "attiva javascript", "javascript è disabilitato", "richiede javascript",
    "javascript inschakelen", "schakel javascript in", "javascript is uitgeschakeld", "ative o javascript", "ativar o javascript",
    "habilite o javascript", "javascript está desativado", "włącz javascript", "włączyć javascript", "obsługę javascript",
    "javascript jest wyłączony", "wymaga javascript", "aktivera javascript", "aktiver javascript", "slå på javascript",
    "povolte javascript", "zapněte javascript", "включите javascript", "включить javascript", "увімкніть javascript",
    "javascriptを有効", "javascriptが無効", "javascriptをオン", "启用javascript", "启用 javascript", "開啟javascript", "啟用javascript",
    "啟用 javascript", "javascript를 활성화", "자바스크립트를 활성화",
)  # fmt: skip
#: Said of a part of a page whose text is there.
SCRIPTS_ASIDE = ("to view the comments", "to enable the search functionality", "to use the search", "to see comments")

#: Said while a visitor is being tested.
HUMANS = (
    "checking your browser", "verify you are human", "verify you are a human", "verify that you are human",
    "verify that you are a human", "verifying you are human", "prove you are human", "confirm you are human",
    "confirm that you are human", "make sure you're not a robot", "make sure you are not a robot", "i'm not a robot",
    "i am not a robot", "are you a robot", "you are not a robot", "you're not a robot", "not a bot", "needs to review the security of your connection",
    "ddos protection by", "attention required! | cloudflare", "performance & security by cloudflare", "unusual traffic",
    "automated requests", "security check", "solve the captcha", "complete the captcha", "enter the captcha", "captcha",
    "pardon our interruption", "press & hold", "enable javascript and cookies to continue", "making sure you're not a bot",
    "browser wird überprüft", "überprüfen ihren browser", "dass sie ein mensch sind", "kein roboter", "sicherheitsüberprüfung",
    "ungewöhnlichen datenverkehr", "vérification de votre navigateur", "vérifier que vous êtes humain",
    "vérifiez que vous êtes humain", "que vous êtes un humain", "je ne suis pas un robot", "pas un robot", "vous êtes un être humain", "verificando tu navegador",
    "comprobando su navegador", "verifica que eres humano", "verifique que es humano", "no soy un robot", "que eres un ser humano",
    "verifica del browser", "verifica di essere umano", "verifica che sei umano", "non sono un robot", "controleren van uw browser", "controleer of u een mens bent",
    "bevestig dat je een mens bent", "dat u een mens bent", "geen robot", "verificando seu navegador", "verificar se você é humano", "verifique se você é humano", "não sou um robô", "não é um robô",
    "sprawdzanie przeglądarki", "potwierdź, że jesteś człowiekiem", "że jesteś człowiekiem", "nie jestem robotem",
    "jag är inte en robot", "подтвердите, что вы человек", "проверка браузера", "я не робот", "что вы не робот", "ブラウザを確認しています", "ブラウザーを確認",
    "あなたが人間であること", "人間であることを確認", "ロボットではありません", "正在检查您的浏览器", "验证您是真人", "请完成安全验证", "请完成验证",
    "驗證您是人類", "我不是机器人", "로봇이 아닙니다", "사람인지 확인",
)  # fmt: skip
