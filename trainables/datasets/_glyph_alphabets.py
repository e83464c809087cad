"""The characters of the glyphs data set, script by script. A frozen list: results depend on it.

Candidates were the letters of a script (for "symbols": mathematical, currency and other symbols)
that at least `MIN_FACES` faces have, inside the frame and with strokes that survive the blur. In
code-point order, one was dropped if it looks like one already kept: the same outline in at least
half of the faces both are in, or a relative squared difference of the undistorted images below
0.02 in the mean over these faces. A test derives the list anew from the fonts.
"""

MIN_FACES = 12

_SCRIPTS: dict[str, str] = {
    "armenian": ("ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆև"),
    "cyrillic": (
        "ЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъы"
        "ьэюяѐёђѓєѕіїјљњћќѝўџѢѣѪѫѲѳѴѵҐґҒғҔҕҖҗҘҙҚқҢңҤҥҪҫҬҭҮүҰұҲҳҺһӁӂӃӄӇӈӋӌӏӐӑӒӓӔӕӖӗӘәӚ"
        "ӛӝӞӟӠӡӣӥӦӧӪӫӬӭӮӯӰӱӲӳӴӵӶӷӸӹԐԑԚԛԜԝ"
    ),
    "georgian": ("აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸჹჺ"),
    "greek": (
        "ΆΈΉΊΌΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώϐϑϒϓϔϕϖ"
        "ϗϘϙϚϛϜϝϞϟϠϡϰϱϲϳϴϵϷϸϹϺϻϼϽϾϿἀἂἄἆἈἊἌἍἎἏἐἒἔἕἘἚἜἝἠἢἤἦἨἪἬἭἮἰἱἲἳἴἵἶἸἹἺἼἽἾὀὂὄὅὈὉὊὌὐὒ"
        "ὔὖὙὛὝὟὠὢὤὦὨὩὪὬὭὮὯὰὲὴὶὸὺὼᾀᾂᾄᾆᾈᾊᾌᾍᾎᾏᾐᾒᾔᾖᾘᾚᾜᾝᾞᾠᾢᾤᾦᾨᾩᾪᾬᾭᾮᾯᾰᾲᾳᾴᾶᾷᾸᾺᾼιῂῃῄῆῇῈῊῌῐῑῒῖ"
        "ῗῘῙῚῠῡῢῤῦῧῨῪῬῲῳῴῶῷῸῺῼ"
    ),
    "latin": (
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyzÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕØÙ"
        "ÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿĀāĂăĄąĆćĈĉĊċČčĎďđĒēĔĕĖėĘęěĜĝĞğĠġĢģĤĥĦħĨ"
        "ĩĪīĬĭĮįİıĲĳĴĵĶķĸĹĺĻļĽľĿŀŁłŃńŅņŇňŉŊŋŌōŏŐőŒœŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŦŧŨũŪūŬŭŮůŰűŲųŴŵ"
        "ŶŷŸŹźŻżŽžſƀƁƂƃƄƅƆƇƈƊƋƌƍƎƏƐƑƒƓƔƕƖƗƘƙƚƛƜƝƞƟƠơƢƣƤƥƦƧƨƩƪƫƬƭƮƯưƱƲƳƴƵƶƷƸƹƺƻƼƽƾƿǀǁǂ"
        "ǃǎǐǒǔǕǖǘǚǜǝǟǠǡǢǣǧǨǩǪǫǬǭǮǯǰǵǶǸǹǺǻǼǽǾǿȁȄȅȇȈȉȋȍȏȐȑȓȕȗȘșȚțȜȝȞȟȡȤȥȧȨȩȪȫȭȯȰȱȲȳȴȵȶȷ"
        "ȸȹȺȻȼȽȾȿɀɁɃɄɅɌɍɐɑɒɓɔɕɖɗɘɚɛɜɝɞɟɠɡɢɣɤɥɦɧɨɩɪɫɬɭɮɯɰɱɲɳɴɵɶɷɸɹɺɻɼɽɾɿʀʁʂʃʄʅʆʇʈʉʊʋʌʍ"
        "ʎʏʐʑʒʓʔʕʖʗʘʙʚʛʜʝʞʟʠʡʢʣʤʥʦʧʨʩʪʫʬʭʮʯᴂᴈᴉᴔᴖᴗᴝᴞᴟᵷᵻᶅḀḁḂḃḄḅḆḇḈḉḊḋḌḍḎḏḐḑḒḓḘḙḚḛḜḝḞḟḢḣ"
        "ḤḥḦḧḨḩḪḫḬḭḰḱḳḴḵḶḷḸḹḺḻḼḽḿṀṁṂṃṅṇṈṉṊṋṌṍṔṕṗṙṚṛṜṝṞṟṠṡṢṣṨṩṪṫṬṭṮṯṰṱṲṳṴṵṶṷṸṹṼṽṾṿẀẁẂẃ"
        "ẄẅẇẈẉẊẋẌẍẏẐẑẒẓẔẕẖẗẘẙẛẟẠạẬậẰằẶặẸẹẽỆệỊịọỘộỚớỜờỠỡỢợỤụỨứỪừỮữỰựỲỳỴỵỸỹⱤⱭⱮⱯⱰⱵⱶⱷⱹⱺⱾⱿ"
        "ꜦꜧꞋꞌꞍꞐꞑꞪﬀﬁﬂﬃﬄ"
    ),
    "symbols": (
        "$+<=>|~¢£¤¥¦©¬®°±×÷϶฿⁄⁺⁻⁼₊₋₌₣₤₦₧€₯₱₴₵₸₹℅№™←↑→↓↔↕↖↗↘↙↚↛↜↝↞↟↠↡↢↣↤↥↦↧↨↩↪↫↬↭↮↯↰↱"
        "↲↳↴↵↶↷↸↹↺↻↼↽↾↿⇀⇁⇂⇃⇄⇅⇆⇇⇈⇉⇊⇋⇌⇍⇎⇏⇐⇑⇒⇓⇔⇕⇖⇗⇘⇙⇚⇛⇜⇝⇞⇟⇠⇡⇢⇣⇤⇥⇦⇧⇨⇩⇪⇫⇬⇭⇮⇯⇰⇱⇲⇳⇴⇵⇶⇷⇸⇹⇺⇻⇼⇽"
        "⇾⇿∀∂∃∄∆∇∈∉∋∌∏∐∑−∓∕∗∘∙√∛∜∝∞∟∠∣∧∨∩∪∫∬∭∸∹∺∻∼∽≂≃≈≐≑≒≓≔≕≠≡≤≥⊂⊃⊄⊅⊆⊇⊍⊎⊏⊐⊑⊒⊓⊔⊕⊖⊗⊘⊙⊚⊛"
        "⊜⊝⊞⊟⊠⊡⊢⊣⊤⊥⋄⋅⌂⌐⌑⌘⌙⌠⌡⌥⌨⍽⎛⎜⎝⎞⎟⎠⎡⎣⎤⎦⎧⎨⎩⎪⎫⎬⎭⎮⏏␣─━│┃┄┅┆┇┈┉┊┋┌┍┎┏┐┑┒┓└┕┖┗┘┙┚┛├┝┞┟┠┡"
        "┢┣┤┥┦┧┨┩┪┫┬┭┮┯┰┱┲┳┴┵┶┷┸┹┺┻┼┽┾┿╀╁╂╃╄╅╆╇╈╉╊╋╌╍╎╏═║╒╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡╢╣╤╥╦╧╨╩╪╫╬╭"
        "╮╯╰╱╲╳╴╵╶╷╸╹╺╻╼╽╾╿▀▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐▒▓▔▕▖▗▘▙▚▛▜▝▞▟■□▢▣▤▥▦▧▨▩▪▫▬▭▮▯▰▱▲△▴▵▶▷▸▹►"
        "▻▼▽▾▿◀◁◂◃◄◅◆◇◈◉◊○◌◍◎●◐◑◒◓◔◕◖◗◘◙◚◛◜◝◞◟◠◡◢◣◤◥◧◨◩◪◫◬◭◮◯◰◱◲◳◴◵◶◷◸◹◺◻◼◽◾◿☀☸☹☺☻☼☿♀"
        "♁♂♃♄♅♆♇♠♣♥♦♧♩♪♫♬♭♮♯⟠⟵⟶⟷⧫⩪⩫⬅⬆⬇⬈⬉⬊⬋⬌⬍⬒⬓⬔⬕⬖⬗⬘⬙⬚�"
    ),
}

# Characters that look like one of another script, such as Cyrillic A: dropped where all are used.
_TWINS = (
    "ΑΒΕΖΗΙΚΛΜΝΟΡΣΤΥΧΪεοόϜϲϳϴϷϸϹϽЀЁЅІЇЈАБВГЕМНОПРСТХаеорсухѐёѕіјѲѳҪҫҮһӐӑӒӓӔӕӖӗӘәӠ"
    "ӡӦӧӯӱԐԑԚԛԜԝՕահոսօẟὸᾸᾼῌῘῙῨꜦꞍ"
)
_ALL = "".join(sorted(set("".join(_SCRIPTS.values())) - set(_TWINS)))

# Code points, both ends included: data sets of symbols that have no class in common.
_PARTS_OF_SYMBOLS = {
    "arrows": (0x2190, 0x21FF),
    "operators": (0x2200, 0x22FF),
    "shapes": (0x2500, 0x25FF),
}
_PARTS = {
    name: "".join(character for character in _SCRIPTS["symbols"] if low <= ord(character) <= high)
    for name, (low, high) in _PARTS_OF_SYMBOLS.items()
}

ALPHABETS = {"all": _ALL, **_SCRIPTS, **_PARTS}
