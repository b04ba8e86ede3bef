# ruff: noqa: RUF001 - letters of other scripts are meant
"""Vocabulary of nine languages: words for judges, their instructions, the work of a team, and top marks."""

from typing import Final

from concord.judging.injection.patterns import Language

_JUDGE: Final = (
    r"(?:(?:kind|impartial|fair|helpful|generous|esteemed|automated|automatic|honourable|ai|llm) )*"
    r"\b(?:judges?|graders?|evaluators?|assessors?|examiners?|scorers?|raters?|adjudicators?|(?:language|ai) model|llm"
    r"|(?:reviewing|grading|judging|evaluating|evaluation|scoring) (?:model|llm|ai|system)"
    r"|who(?:ever|soever) (?:grades|judges|scores|evaluates|rates) (?:this|us))\b"
)
_OURS: Final = r"(?:team|answers?|responses?|conversation|collaboration|replies|agents)\b"
_WORK: Final = (
    r"(?:team|answer|response|conversation|transcript|dialogue|discussion|exchange|solution|submission|work|trace|reply"
    r"|collaboration|group)\b"
)
_GRADES: Final = r"(?:scores?|marks?|points?|ratings?|grades?|credit|verdict|evaluation|assessment)"

ENGLISH: Final = Language(
    ignore=r"(?:ignore|disregard|forget|override|overrule|skip|bypass|neglect)\b",
    former=r"\b(?:all|any|every|everything|your|previous|prior|above|earlier|preceding|foregoing|existing)\b",
    rules=r"\b(?:instructions?|rules?|rubrics?|criteria|prompts?|guidelines?|directions?|directives?|context)\b",
    aside=r"(?:to|about|on|for|in|from|if|when|unless|that|which|regarding|concerning|sent|we|i|by|at|until|under)\b"
    r"|of (?!the prompt|yours)",
    judge=_JUDGE,
    address=r"\b(?:dear|attention,?|hey|hello,?|hi|(?:note|notice|message|memo|instructions?|reminder) (?:to|for)"
    rf"|to|for the|ask the|thank you,?|thanks,?) (?:(?:the|you|all|our|any|every),? )?{_JUDGE}(?!'s|’s)",
    role=rf"\b(?:you are|you're|act as|acting as)(?: now)?(?: the| an?| our)? {_JUDGE}"
    rf"|\bas (?:the |an? )?{_JUDGE},? (?:you|please)\b",
    must=r"\b(?:must|should|shall|will|has to|have to|is to|please|needs? to|ought to)\b",
    grade=r"(?:give|grant|award|assign|rate|score|grade|mark|output|return|answer|set|report|consider|treat|evaluate"
    r"|judge|declare|deem|find)\b",
    give=r"(?:give|grant|award|assign)\b",
    top=rf"\b(?:full|top|maximum|max|maximal|highest|best|perfect|excellent)(?: possible)?(?: overall)? {_GRADES}\b"
    r"|\b(?:10|ten) out of (?:10|ten)\b",
    this=rf"\b(?:(?:this|the above) (?:\w+ )?{_WORK}|(?:our|these) (?:\w+ )?{_OURS})|(?<!of )\bus\b(?! 100)",
    every=r"\b(?:all|every|each)(?: one)?(?: of)?(?: the)?(?: \w+)? (?:criteri(?:on|a)|rubric items?)\b",
    met=r"\b(?:met|fulfilled|satisfied|passed)\b",
    say=r"\b(?:answer|respond|reply|say|state|report|find|conclude|decide|declare|claim|return|output|confirm)\b",
    merits=r"\b(?:deserves?|merits?|(?:should|must|has to|ought to) (?:get|receive|be (?:given|scored|rated|graded"
    r"|awarded|marked|found)))\b",
    perfect=r"\b(?:as|to be|is|a|an)(?: an?)? (?:perfect|excellent|flawless|outstanding|exemplary|fully correct|met)\b",
    verdict=r"\bverdicts?\b",
    before="please|me|now|must|should|shall|will|and|then|kindly|simply|just|so|you|also|first|therefore|hereby|politely"
    "|you to|asked to|have to|need to|required to|told to|ordered to|instead",
)  # fmt: skip

_RICHTER: Final = (
    r"\b(?:gutachter\w*|begutachter\w*|prüfer\w*|bewerter\w*|richter\w*|juror\w*|jury|schiedsrichter\w*|evaluator\w*"
    r"|preisrichter\w*|korrektor\w*|sprachmodell\w*|ki-?modell\w*|bewertungsmodell\w*)\b"
)
GERMAN: Final = Language(
    ignore=r"\b(?:ignorier(?:e|t|en)|vergiss|vergesst|vergessen sie|missachte\w*|überspring\w*|übergeh\w*)\b",
    former=r"\b(?:alle\w*|sämtliche\w*|jegliche\w*|vorherige\w*|bisherige\w*|vorangegangene\w*|frühere\w*|obige\w*"
    r"|vorige\w*|deine\w*|eure\w*|ihre\w*)\b",
    rules=r"\b(?:anweisung\w*|instruktion\w*|regel\w*|vorgabe\w*|richtlinie\w*|kriterien|prompts?|weisungen)\b",
    aside=r"(?:für|zum|zur|im|in|aus|von|vom|der|des|zu|über|wenn|falls)\b",
    judge=_RICHTER,
    address=r"\b(?:liebe[rs]?|sehr geehrte[rs]?|hallo|achtung|(?:hinweis|nachricht|notiz|bitte|botschaft) (?:an|für)),?"
    rf"(?: \w+)? {_RICHTER}",
    role=rf"\b(?:du bist|sie sind|ihr seid)(?: \w+){{0,2}} {_RICHTER}"
    rf"|\bals(?: \w+)? {_RICHTER},? (?:musst|sollst|wirst|müssen|sollen) (?:du|sie)\b",
    must=r"\b(?:muss|müssen|soll|sollen|sollte\w*|möge\w*|wird|werden)\b",
    grade=r"\b(?:gib|gebt|geben sie|vergib|vergebt|vergeben sie|bewerte|bewertet|bewerten sie|beurteile\w*|erteile\w*"
    r"|erkläre\w*|werte|stufe\w*|einstufen|betrachte\w*)\b",
    give=r"\b(?:gib|gebt|geben sie|vergib|vergebt|vergeben sie|erteile\w*)\b",
    top=r"\b(?:volle|höchste|beste|maximale|perfekte|bestmögliche|höchstmögliche)\w* (?:punktzahl|bewertung|note"
    r"|wertung|punkte|beurteilung)\b|\b(?:bestnote|höchstnote|höchstpunktzahl|bestwertung)\b",
    this=r"\b(?:diese[mnrs]?|unser\w*) (?:\w+ )?(?:teams?|antwort\w*|gespräch\w*|unterhaltung|lösung|arbeit|gruppe"
    r"|konversation|dialogs?)\b|\buns\b",
    every=r"\b(?:alle\w*|jede\w*|sämtliche\w*) (?:\w+ )?\w*kriteri(?:um|en)\b",
    met=r"\b(?:erfüllt|eingehalten|bestanden)\b",
    say=r"\b(?:antworte\w*|sage\w*|urteile\w*|erkläre\w*|bestätige\w*|finde\w*)\b",
    merits=r"\b(?:soll\w*|verdien\w*|muss|bekommt|erhält)\b",
    perfect=r"\b(?:perfekt|hervorragend|ausgezeichnet|fehlerfrei|exzellent|vollständig richtig)\b",
    verdict=r"\b(?:urteil|verdikt)\b",
    before="bitte|nun|jetzt|und|dann|einfach|also|daher|du|sie|musst",
)  # fmt: skip

_JUGE: Final = (
    r"(?:juges?|évaluat(?:eur|rice)s?|examinat(?:eur|rice)s?|correct(?:eur|rice)s?|notateurs?|jurys?|modèle de langage"
    r"|modèle évaluateur|modèle d'évaluation)\b"
)
_LE: Final = r"(?:l['’]|la |le |les )?"
FRENCH: Final = Language(
    ignore=r"\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|passe[zr]? outre|fais abstraction|faites abstraction)\b",
    former=r"\b(?:tou(?:te)?s|précédent\w*|antérieur\w*|ci-dessus|tes|vos|ta|votre)\b",
    rules=r"\b(?:instructions?|consignes?|règles?|critères?|directives?|prompts?|barème|grille)\b",
    aside=r"(?:pour|de|du|des|sur|dans|si|que|qui|concernant)\b|d['’]",
    judge=_JUGE,
    address=r"\b(?:chers?|chère|bonjour|attention|(?:note|message|remarque|avis) (?:à|pour|au|aux)),?"
    rf"(?: \w+)? {_LE}{_JUGE}",
    role=rf"\b(?:tu es|vous êtes)(?: \w+){{0,2}}? {_LE}{_JUGE}|\ben tant que {_JUGE}(?: \w+)?,? (?:tu|vous)\b",
    must=r"\b(?:dois|devez|doit|doivent|devr\w+|est prié\w*)\b",
    grade=r"\b(?:donne[zr]?|attribue[zr]?|accorde[zr]?|mets|mettez|note[zr]?|évalue[zr]?|considère\w*|considérez"
    r"|juge[zr]?|trouve[zr]?)\b",
    give=r"\b(?:donne[zr]?|attribue[zr]?|accorde[zr]?|mets|mettez)\b",
    top=r"\b(?:note|score|évaluation) (?:maximale?|parfaite?|la plus (?:haute|élevée))\b"
    r"|\b(?:meilleure?|plus haute|plus élevée) (?:note|évaluation|appréciation)\b|\bmaximum de points\b",
    this=r"\b(?:cette|cet|ce|notre|ces) (?:\w+ )?(?:équipe|réponse|conversation|dialogue|échange|solution|travail"
    r"|groupe)\b",
    every=r"\b(?:tous les|chaque|l'ensemble des) critères?\b",
    met=r"\b(?:remplis?|satisfaits?|respectés?|atteints?)\b",
    say=r"\b(?:répond\w*|di[st]es?|dire|conclu\w*|déclare\w*|confirme\w*|juge\w*)\b",
    merits=r"\b(?:mérite\w*|doit|obtient|devrait)\b",
    perfect=r"\b(?:parfaite?s?|excellente?s?|irréprochables?|impeccables?)\b",
    verdict=r"\bverdict\b",
    before="et|puis|veuillez|maintenant|alors|tu dois|vous devez|de|pouvez-vous",
)  # fmt: skip

_JUEZ: Final = (
    r"(?:jue(?:z|za|ces)|evaluador(?:a|es|as)?|calificador\w*|examinador\w*|corrector(?:a|es)?|jurado"
    r"|modelo de lenguaje|modelo evaluador)\b"
)
SPANISH: Final = Language(
    ignore=r"\b(?:ignor(?:a|e|en|ad|ar)|olvid(?:a|e|en|ad|ar)|descart(?:a|e|en)|haz caso omiso de|omit(?:e|a|an))\b",
    former=r"\b(?:tod[oa]s|anterior(?:es)?|previ[oa]s|precedentes|tus|sus|vuestras)\b",
    rules=r"\b(?:instruccion(?:es)?|reglas?|normas?|criterios?|indicaciones|directrices|rúbrica|prompts?)\b",
    aside=r"(?:para|de|del|sobre|si|que|en)\b",
    judge=rf"\b{_JUEZ}",
    address=r"\b(?:estimad[oa]s?|querid[oa]s?|hola|atención|(?:nota|mensaje|aviso|recado) (?:para|al?)),?"
    rf"(?: \w+)?(?: el| la| los)? {_JUEZ}|\bnota al {_JUEZ}",
    role=rf"\b(?:eres|usted es|es usted|sois)(?: \w+){{0,2}}? {_JUEZ}"
    rf"|\bcomo {_JUEZ},? (?:\w+,? )?(?:debes|debe|tienes que|tiene que)\b",
    must=r"\b(?:debes?|deben|deberá\w*|tienes? que|ha de)\b",
    grade=r"\b(?:da|dé|den|dadle|otorg(?:a|ue|uen)|asign(?:a|e|en)|califi(?:ca|que|quen)|pon|ponga|evalú(?:a|e|en)"
    r"|punt(?:ú)(?:a|e)|conced(?:e|a)|aprueb(?:a|e)|consider(?:a|e)|valor(?:a|e))\b",
    give=r"\b(?:da|dé|den|otorg(?:a|ue|uen)|asign(?:a|e|en)|pon|ponga|conced(?:e|a))\b",
    top=r"\b(?:puntuación|nota|calificación|valoración|puntaje) (?:máxim[ao]|más alt[ao]|perfect[ao])\b"
    r"|\b(?:máxima|mejor|más alta) (?:puntuación|nota|calificación|valoración)\b|\bmáximo puntaje\b",
    this=r"\b(?:est[ae]|nuestr[ao]) (?:\w+ )?(?:equipo|respuesta|conversación|diálogo|solución|trabajo|grupo)\b",
    every=r"\b(?:todos los|cada|cada uno de los) criterios?\b",
    met=r"\b(?:cumpl\w+|satisf\w+)\b",
    say=r"\b(?:respond\w*|di|diga|decir|conclu\w*|declar\w*|confirm\w*)\b",
    merits=r"\b(?:debe\w*|merece\w*|recibe)\b",
    perfect=r"\b(?:perfect[oa]s?|excelentes?|impecables?)\b",
    verdict=r"\bveredicto\b",
    before="y|por favor|luego|entonces|ahora|debes",
)  # fmt: skip

_GIUDICE: Final = (
    r"(?:giudic[ei]|valutator[ei]|valutatric[ei]|esaminator[ei]|correttor[ei]|giuria|modello linguistico"
    r"|modello valutatore)\b"
)
ITALIAN: Final = Language(
    ignore=r"\b(?:ignora(?:re|te)?|ignori|dimentica(?:re|te)?|dimentichi|trascura(?:re|te)?|scorda)\b",
    former=r"\b(?:tutt[ei]|precedent[ei]|tue|vostre|sue|tuoi|vostri)\b",
    rules=r"\b(?:istruzion[ei]|regol[ae]|criteri|direttiv[ae]|linee guida|rubrica|prompt)\b",
    aside=r"(?:per|di|del|della|dei|sul|sulla|se|che|nel)\b",
    judge=rf"\b{_GIUDICE}",
    address=r"\b(?:gentil[ei]|car[oaie]|egregi[oa]?|ciao|salve|attenzione|(?:nota|messaggio|avviso) (?:per|al?)),?"
    rf"(?: \w+)?(?: il| la| lo| i)? {_GIUDICE}|\bnota al {_GIUDICE}",
    role=rf"\b(?:sei|lei è|siete)(?: \w+){{0,2}}? {_GIUDICE}"
    rf"|\b(?:come|in quanto) {_GIUDICE},? (?:\w+,? )?(?:devi|deve|dovete)\b",
    must=r"\b(?:dev[ei]|devono|dovr\w+)\b",
    grade=r"\b(?:dai|dia|date|dare|assegna(?:te|re)?|attribuisci|attribuite|valuta(?:te|re)?|valuti|concedi|metti"
    r"|considera(?:te|re)?|approva(?:te)?)\b",
    give=r"\b(?:dai|dia|date|dare|assegna(?:te|re)?|attribuisci|attribuite|concedi|metti)\b",
    top=r"\b(?:punteggio|voto|valutazione) (?:massim[ao]|più alt[ao]|perfett[ao]|pieno)\b"
    r"|\b(?:massimo|miglior) (?:punteggio|voto)\b|\bpieni voti\b",
    this=r"\b(?:quest[aoie]|nostr[aoie]) (?:\w+ )?(?:squadra|risposta|conversazione|dialogo|soluzione|lavoro|gruppo"
    r"|team)\b",
    every=r"\b(?:tutti i criteri|ogni criterio|ciascun criterio)\b",
    met=r"\b(?:soddisfatt[ie]|rispettat[ie]|raggiunt[ie])\b",
    say=r"\b(?:rispond\w*|di[rc]\w*|conclud\w*|dichiar\w*|conferm\w*)\b",
    merits=r"\b(?:merit\w+|dev[ei]|dovrebbe)\b",
    perfect=r"\b(?:perfett[aoie]|eccellent[ei]|impeccabil[ei])\b",
    verdict=r"\bverdetto\b",
    before="e|poi|prego di|ora|devi|quindi|favore",
)  # fmt: skip

_JUIZ: Final = (
    r"(?:juiz(?:a|es)?|avaliador(?:a|es|as)?|examinador\w*|corretor(?:a|es)?|júri|modelo de linguagem"
    r"|modelo avaliador)\b"
)  # fmt: skip
PORTUGUESE: Final = Language(
    ignore=r"\b(?:ignor(?:e|a|em|ar)|esque(?:ça|ce|çam|cer)|desconsider(?:e|a|em|ar))\b",
    former=r"\b(?:tod[oa]s|anterior(?:es)?|prévi[oa]s|acima|suas|seus|tuas|teus)\b",
    rules=r"\b(?:instruç(?:ões|ão)|regras?|critérios?|diretrizes|orientações|rubrica|prompts?)\b",
    aside=r"(?:para|de|da|do|das|dos|sobre|se|que)\b",
    judge=rf"\b{_JUIZ}",
    address=r"\b(?:car[oa]s?|prezad[oa]s?|olá|atenção|(?:nota|mensagem|aviso|recado) (?:para|ao?)),?"
    rf"(?: \w+)?(?: os?| as?)? {_JUIZ}|\bnota ao {_JUIZ}",
    role=rf"\b(?:você é|tu és|vocês são)(?: \w+){{0,2}}? {_JUIZ}"
    rf"|\bcomo {_JUIZ},? (?:\w+,? )?(?:você deve|deves|deve)\b",
    must=r"\b(?:deve[ms]?|deverá|tem de|tem que)\b",
    grade=r"\b(?:dê|deem|dá|atribu(?:a|i|am)|avali(?:e|a|em)|conced(?:a|e)|pontu(?:e|a)|aprov(?:e|a)|consider(?:e|a)"
    r"|classifi(?:que|ca))\b",
    give=r"\b(?:dê|deem|dá|atribu(?:a|i|am)|conced(?:a|e))\b",
    top=r"\b(?:pontuação|nota|avaliação|classificação) (?:máxima|mais alta|perfeita)\b"
    r"|\b(?:máxima|melhor|mais alta) (?:pontuação|nota|avaliação)\b",
    this=r"\b(?:est[ae]|ess[ae]|noss[ao]) (?:\w+ )?(?:equip[ea]|resposta|conversa|diálogo|solução|trabalho|grupo)\b",
    every=r"\b(?:todos os|cada) critérios?\b",
    met=r"\b(?:cumprid[oa]s?|satisfeit[oa]s?|atendid[oa]s?|atingid[oa]s?)\b",
    say=r"\b(?:respond\w*|diz\w*|diga|conclu\w*|declar\w*|confirm\w*)\b",
    merits=r"\b(?:deve\w*|merece\w*|recebe)\b",
    perfect=r"\b(?:perfeit[oa]s?|excelentes?|impecáve\w+)\b",
    verdict=r"\bveredi[ct]+o\b",
    before="e|por favor|depois|então|agora|deve",
)  # fmt: skip

_SUDJA: Final = (
    r"\b(?:судь\w+|оценщик\w*|эксперт\w*|проверяющ\w+|экзаменатор\w*|жюри|рецензент\w*|языков\w+ модел\w+)\b"
)
RUSSIAN: Final = Language(
    ignore=r"\b(?:игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?|не обращай(?:те)? внимания на|отбрось(?:те)?)\b",
    former=r"\b(?:все|всех|предыдущ\w+|прежн\w+|вышеуказанн\w+|свои|своих|ваши|твои)\b",
    rules=r"\b(?:инструкци\w+|правил\w*|указани\w+|критери\w+|рубрик\w+|директив\w+|промпт\w*)\b",
    judge=_SUDJA,
    address=r"\b(?:уважаем\w+|дорог\w+|внимание|здравствуйте|привет|(?:примечание|сообщение|записка|просьба)"
    rf" (?:для|к)),?(?: \w+)? {_SUDJA}",
    role=rf"\b(?:ты|вы)(?: [—-])?(?: \w+){{0,2}}? {_SUDJA}|\bкак {_SUDJA},? (?:\w+ )?(?:ты|вы)\b",
    must=r"\b(?:долж\w+|обязан\w*|следует)\b",
    grade=r"\b(?:поставь(?:те)?|ставь(?:те)?|дай(?:те)?|оцени(?:те)?|присвой(?:те)?|выставь(?:те)?|считай(?:те)?"
    r"|признай(?:те)?)\b",
    give=r"\b(?:поставь(?:те)?|ставь(?:те)?|дай(?:те)?|присвой(?:те)?|выставь(?:те)?)\b",
    top=r"\b(?:максимальн\w+|высш\w+|наивысш\w+|полн\w+|сам\w+ высок\w+) (?:балл\w*|оценк\w+|рейтинг\w*)\b",
    this=r"\b(?:эт\w+|наш\w*) (?:\w+ )?(?:команд\w+|ответ\w*|разговор\w*|диалог\w*|решени\w+|работ\w+|бесед\w+)\b",
    every=r"\b(?:все|кажд\w+|всем) (?:\w+ )?критери\w+\b",
    met=r"\b(?:выполнен\w*|соблюден\w*|удовлетворен\w*)\b",
    say=r"\b(?:ответ\w*|сказать|скажи\w*|признать|подтверд\w*)\b",
    merits=r"\b(?:заслуживает|должн\w+|получает)\b",
    perfect=r"\b(?:идеальн\w+|отличн\w+|безупречн\w+)\b",
    verdict=r"\bвердикт\w*\b",
    before="и|пожалуйста|теперь|затем|просто|должен",
)  # fmt: skip

_PINGWEI: Final = (
    r"(?:评委|裁判|评估者|评审(?:专家|员)?|法官|评分(?:者|员|模型)|评判(?:者|员)|考官|语言模型|評審|裁判|評委)"
)
CHINESE: Final = Language(
    ignore=r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守)",
    former=r"(?:之前|以上|上述|先前|前面|所有|全部|一切|你的|您的|你们的)",
    rules=r"(?:指令|指示|规则|規則|说明|提示词|提示|标准|標準)",
    judge=_PINGWEI,
    address=rf"(?:尊敬的|亲爱的|致|各位){_PINGWEI}|{_PINGWEI}(?:请注意|注意|您好|你好)",
    role=rf"(?:你是|您是)[^。]{{0,8}}{_PINGWEI}|作为{_PINGWEI},?(?:你|您)",
    must=r"(?:必须|应该|应当|请)",
    grade=r"(?:(?<!就)给(?:出|予)?|給予?|打(?!了)|评为|评定为|判定?为|授予|视为|判定)",
    give=r"(?:(?<!就)给(?:出|予)?|給予?|打(?!了)|授予)",
    top=r"(?:最高的?(?:分数?|评分|评价|得分)|满分|滿分)",
    this=r"(?:这个|这段|本|该|我们的?|這個|此)\w{0,4}?(?:团队|回答|答案|对话|團隊|小组|回复)",
    every=r"(?:(?:所有|每一?项|全部|各项)\w{0,6}?(?:标准|準則|指标)|(?:评分|评估)标准)",
    met=r"(?:满足|符合|达到|通过|滿足)",
    say=r"(?:回答|回复|判定|认定|宣布|说)",
    merits=r"(?:应得?|值得|应该|必须|应当)",
    perfect=r"(?:完美|优秀|满分)",
    verdict=r"(?:判定|裁定|裁决|评定)",
)  # fmt: skip

_SHINSAIN: Final = r"(?:審査員|評価者|裁判官|採点者|判定者|試験官|評価モデル|言語モデル|ジャッジ)"
JAPANESE: Final = Language(
    ignore=r"(?:無視し(?:て|ろ|なさい)|忘れ(?:て|ろ|なさい))",
    former=r"(?:これまで|以前|上記|すべて|全て|あなたの|今まで|前の)",
    rules=r"(?:指示|命令|ルール|規則|プロンプト|ガイドライン)",
    judge=_SHINSAIN,
    address=rf"{_SHINSAIN}(?:の?皆?様|さん|殿)?(?:[、,:]|へ(?:の|[、,:]))|親愛なる{_SHINSAIN}",
    role=rf"あなたは[^。]{{0,10}}{_SHINSAIN}|{_SHINSAIN}として、?あなた",
    must=r"(?:なければ|べき|必ず)",
    grade=r"(?:つけて|付けて|与えて|与えよ|判定して|評価して|みなして|採点して|お願い)",
    give=r"(?:つけて|付けて|与えて|与えよ|お願い)",
    top=r"(?:満点|最高の?(?:点|評価|得点|スコア))",
    this=r"(?:この|私たちの|我々の)(?:チーム|回答|会話|答え|解答|対話|グループ)",
    every=r"(?:(?:すべて|全て|各|全)の?\w{0,4}?基準|基準(?:は|が)(?:すべて|全て))",
    met=r"満た(?:され|して|した)",
    say=r"(?:答え|回答し|述べ|判定し|認め)",
    merits=r"(?:べき|値する|ふさわし)",
    perfect=r"(?:完璧|最高|優秀)",
    verdict=r"(?:判定|評決|裁定)",
    verb_last=True,
)  # fmt: skip

LANGUAGES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, RUSSIAN, CHINESE, JAPANESE)
