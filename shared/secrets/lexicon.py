"""Ordinary words around secrets, in lists by their effect."""

_LINKS = """
'tis answer answered are be became becomes being called chose dial enter equals gave generated gets goes got here's
heres input is it's its made picked press punch reads remains say says sent stays takes tap texted that's thats to try
type use used using wants was were with
"""
_FILL = """
a actually again all also always an as back basically btw changed changing code currently digits exactly five for four
good haha he her his i i'm it just literally lol mine my new no now number ok okay old only our ours please pls
probably really reset rotated same set she simply six so spelled spelt still switched that the their then they this
typed updated we we're word words yep yes you your
"""
_BLOCKS = """
asking asks attempts begins between can't cannot cant contain containing contains denied didn't didnt doesn't doesnt
ending ends error every expired expires fail failed failing fails first forgot forgotten had has have how incorrect
invalid isn't isnt last leaked least like line locked longer lost maximum minimum mismatch must needs never not
nothing over page per port prefix prompts recommended rejected require required requires returned returns rotate
rotates shorter should starting starts status stolen suggests than throws times too under version what where whether
which why without won't wrong
"""
_PUT = """
enter key keying plug punch punching put tap tapping type typing
"""
_ARTICLES = """
a actually an as back for good her his my new old our reset same set the their to with your
"""
_PLACES = """
around at by during from in of on since through until
"""
_NO_WORD = """
above accepted accurate active actually admin allowed already alright although ancient anniversary annoying answer
anyone anything apparently argon2 asking available awful bad base64 based basically bcrypt because behind below beside
best better biometric birthday bitwarden blank blocked bool both broken case-sensitive causing changed cleartext
common complex compromised confidential confusing correct crazy crucial cute dashlane dead default denied different
disabled displayed done due dumb easy either email empty enabled encrypted enough everything everywhere expired face
faceid failing fake false fine fingerprint forgotten funny garbage getting given going gone good great guest half hard
hashed here hers hidden his idea identical important impossible inactive incorrect insane inside int invalid issue
kaputt keepass kept keychain kinda known lame lastpass later leaked left legit literally locked login long longer lost
lowercase making mandatory maybe mental mine missing name near necessary needed neither new next nice none nothing
nowhere null number oauth obviously often okay old optional ours outdated passkey passkeys password people perhaps
permanent personal plain plaintext possible pretty printed private probably problem protected public question quite
random rarely rather readable ready real really refused rejected required reset ridiculous right root rubbish safe
same saved scrypt secret secure sensitive sent shared short shorter shown silly similar simple since somebody someone
something sometimes somewhere soon sorta ssh sso stored str string strong stuck stuff stupid super supposed taped tbd
telling temporary terrible text theirs there thing things though today todo token tomorrow tonight touchid trash
tricky true undefined under unique unknown unless unlocked until uppercase used user username users using usually
valid value visible way weak when where while working worse worst written wrong yesterday yours
"""
_OPENS_TALK = """
always based being case different easy expired getting going hard hidden incorrect invalid kept long missing needed
never not only required safe saved secure sent short similar simple still stored strong stuck too very visible weak
written wrong
"""
_NO_SETTING = """
always argon array basic bcrypt bearer blank boolean bytes changed confirm correct create default delete denied digest
disabled empty enabled encrypted enter error expired failed false field forgotten hashed hidden incorrect inherit
input integer invalid label login manager missing never nullable number object optional plain please policy repeat
required reset secretstr show signup string strong submit text union unknown unset update varchar weak wrong
"""

LINKS: frozenset[str] = frozenset(_LINKS.split())
"""A value follows these."""
FILL: frozenset[str] = frozenset(_FILL.split())
"""These may occur between a name and value and mean nothing."""
BLOCKS: frozenset[str] = frozenset(_BLOCKS.split())
"""After these, a name is discussed and has no value."""
PUT: frozenset[str] = frozenset(_PUT.split())
"""After these, `in` is not a place."""
ARTICLES: frozenset[str] = frozenset(_ARTICLES.split())
"""After these, an ordinary word is a description and no value."""
PLACES: frozenset[str] = frozenset(_PLACES.split())
"""After these, a number is a place or a time."""
NO_WORD: frozenset[str] = frozenset(_NO_WORD.split())
"""Ordinary words that describe the quality, place or kind of a password."""
OPENS_TALK: frozenset[str] = frozenset(_OPENS_TALK.split())
"""A phrase with this beginning describes a password."""
NO_SETTING: frozenset[str] = frozenset(_NO_SETTING.split())
"""Values of settings that are types, labels or states."""
