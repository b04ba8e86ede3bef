"""Wordings of messages and answers, with blanks, for `phrasings` to fill."""

from typing import Final

# Blanks of frames: {body} the facts, {sender} and {other} seats, {few} a small number, {clock} a time of day.
# Blanks of clauses: {value}, {anchor}, {holder} and {sender} seats, {topic} the subject of the fact, such as "reading".
SENTENCE_FRAMES: Final[tuple[str, ...]] = (
    "{body}",
    "Hi {other}! {body} Hope that helps.",
    "Hello team, {sender} here. {body}",
    "Hey all, quick update: {body} Shout if anything looks off.",
    "Good morning everyone. {body} Best regards, {sender}",
    "{body} Could you pass this on to the others, please?",
    "Thanks for your message, {other}! {body}",
    "OK so here goes... {body} That's it from my side :)",
    "@{other} {body} Please acknowledge.",
    "Sorry for the delay, it's already {clock}. {body}",
    "To recap for the {few} of us: {body} Let me know what you get.",
    "**Update from {sender}** {body}",
    "Dear colleague,\n\n{body}\n\nKind regards,\n{sender}",
    "I've read my brief twice and am 100% sure about this. {body}",
    "{body} I'd rather not guess the rest; who else has something?",
    "Round {few}: {body} Over to you, {other}.",
    "As {sender}, I'm sharing everything I know with you now. {body} Happy to double-check if needed.",
    "> what do you have?\n\n{body}",
    "FYI\n{body}\nCheers",
)
LINE_FRAMES: Final[tuple[str, ...]] = (
    "{body}",
    "Here's what I have:\n{body}",
    "Hi {other},\n\nhere is what I know so far:\n\n{body}\n\nBest,\n{sender}",
    "## Facts\n\n{body}\n\n## Next step\n\nPlease forward to your neighbours.",
    "**Known so far** (as of {clock})\n{body}",
    "Status report\n-------------\nFrom: {sender}\nTo: {other}\n\n{body}",
    "<facts>\n{body}\n</facts>",
    "```\n{body}\n```\nForward as is, please.",
    "My notes, {few} minutes before the deadline:\n{body}\nthx!",
    "Collected:\n{body}\n\nStill waiting for {other}.",
    "SUMMARY\n{body}\nEND OF SUMMARY",
    "Sure! Here you go:\n\n{body}\n\nLet me know if you need anything else.",
)
SERIES_FRAMES: Final[tuple[str, ...]] = (
    "{body}",
    "{sender}: {body}.",
    "Just so everybody has it: {body}. Thanks!",
    "Got it, thanks. On my end: {body}.",
    "all I know: {body}",
    "Reporting in ({body}).",
    "For the record, {body} - please add to the list.",
    "Hi! {body}. Please relay this to the others, {other}.",
)
RECORD_FRAMES: Final[tuple[str, ...]] = (
    "[\n{body}\n]",
    "```json\n[\n{body}\n]\n```",
    '{{"from": "{sender}", "known": [\n{body}\n]}}',
    "Here is my data as JSON:\n\n```json\n[\n{body}\n]\n```\n\nPlease merge it with yours.",
    '{{"type": "inform", "to": "{other}", "content": [\n{body}\n]}}',
)
TABLE_FRAMES: Final[tuple[str, ...]] = (
    "| item | value |\n|---|---|\n{body}",
    "My table so far:\n\n| What | Content |\n|:-----|------:|\n{body}\n\nPlease add your rows.",
    "Hi {other}, this is the overview:\n\n| | |\n|-|-|\n{body}\n\nThanks, {sender}",
)
OWN: Final[tuple[str, ...]] = (
    "my {topic} is {value}",
    "I have {value}",
    "I've got {value} here",
    "the {topic} I was given is {value}",
    "{value} is my {topic}",
    "{value} is what I was told",
    "my {topic} was {value} when I last looked",
    "mine: {value}",
    "my {topic} = {value}",
    "I can confirm {value} on my side",
    "as for me, I hold {value}",
    "you can put me down for {value}, that's my {topic}",
    "{sender} has {value}",
    "{sender}'s {topic} is {value}, i.e. mine",
    "{topic} ({sender}): {value}",
    "I'm looking at {value}",
    "{value}",
)
OTHERS: Final[tuple[str, ...]] = (
    "{holder} has {value}",
    "{holder}'s {topic} is {value}",
    "{holder} told me {value}",
    "according to {holder}, the {topic} there was {value}",
    "{holder}: {value}",
    "{value} comes from {holder}",
    "from {holder} I heard {value}",
    "{holder} reported {value} for the {topic}",
    "{value} is what {holder} wrote",
    "the {topic} that {holder} holds is {value}",
    "{holder} -> {value}",
    "{topic} of {holder} = {value}",
    "I'm passing on {value} for {holder}",
    "{holder} had said {value}",
    "{value} ({holder})",
    "{value}",
)
ANCHORED: Final[tuple[str, ...]] = (
    "{anchor}: {value}",
    "{anchor} is {value}",
    "{anchor} = {value}",
    "{anchor} -> {value}",
    "{anchor} \u2192 {value}",
    "{anchor} ({value})",
    "{value} for {anchor}",
    "{value} ({anchor})",
    "{anchor} has {value} as {topic}",
    "{anchor}'s {topic} is {value}",
    "the {topic} of {anchor} was {value}",
    "with {anchor} it's {value}",
    "I have {anchor} down as {value}",
    "{holder} says {value} about {anchor}",
    "{holder} has {anchor} with {value}",
    "it says {value} next to {anchor}",
    "as to {anchor}, the {topic} given is {value}",
    "{value} is the {topic} for {anchor}",
    "{anchor} was marked {value}",
    "{anchor} | {value}",
)
ABOUT_A_CODE: Final[tuple[str, ...]] = (
    "{anchor} went to {value}",
    "{value} got {anchor}",
    "{value} received {anchor}",
    "{anchor} has gone to {value}",
)
QUOTING_OWN: Final[tuple[str, ...]] = (
    'my brief says "{quote}"',
    'I was told this: "{quote}"',
    "my brief, word for word: {quote}",
)
QUOTING_OTHERS: Final[tuple[str, ...]] = ('{holder} was told "{quote}"', 'from the brief of {holder}: "{quote}"')
PARTIAL: Final[tuple[str, ...]] = (
    "the result so far is {value}",
    "what we have up to now comes to {value}",
    "{value} is where we stand",
    "after combining what I know I get {value}",
    "the intermediate result is {value}, from {count} of us",
    "up to here that makes {value}",
    "the merged list of {count} gives {value}",
    "running result: {value}",
    "partial = {value}",
)
PARTIAL_SUM: Final[tuple[str, ...]] = (
    "the sum so far is {value}",
    "up to stage {count} that makes {value}",
    "the running total was {value} after {count} of us",
    "added up, that's {value}",
    "subtotal: {value}",
    "{value} in total until now",
    "together they come to {value}",
    "my cumulative amount is {value}",
)
PARTIAL_HIGHEST: Final[tuple[str, ...]] = (
    "the highest so far is {value}",
    "max so far: {value}",
    "nobody has had more than {value} yet",
    "{value} is the best of {count}",
    "{value} still leads",
    "out of what I've seen, {value} is the largest",
)
PARTIAL_LOWEST: Final[tuple[str, ...]] = (
    "the lowest so far is {value}",
    "min so far: {value}",
    "{value} is the smallest of {count}",
)
CHATTER: Final[tuple[str, ...]] = (
    "Hi everyone!",
    "Hello {other}, {sender} here. Ready when you are.",
    "What does your counter show?",
    "What's your {topic}, {other}?",
    "{other}, could you send me your {topic} please?",
    "Thanks!",
    "Thank you, {other}, got it.",
    "Understood. I'll wait for the others.",
    "ack",
    "OK",
    "ok, noted :)",
    "Let's do it like this: everybody sends what they know to {other}, who then answers.",
    "Plan: 1) share, 2) compare, 3) answer. Agreed?",
    "I propose that we go round in the order of our names.",
    "There are {few} of us still missing.",
    "I haven't heard from {other} yet.",
    "Still waiting. Nothing new on my side.",
    "No news since {clock}.",
    "Can you repeat that? I'm not sure I read it correctly.",
    "Did you get my last message?",
    "I've forwarded your message to {other}.",
    "Great work, team!",
    "Sounds good to me.",
    "I agree with {other}.",
    "Who needs to give the answer? I think it's {other}.",
    "How many rounds are left? I count {few}.",
    "**Question:** does anybody know more about this?",
    "- waiting for {other}\n- then I'll answer",
    '{{"status": "waiting", "from": "{sender}"}}',
    '{{"type": "request", "to": "{other}", "content": "please send your {topic}"}}',
    "I'm done, nothing else to add.",
    "Please forward this to your other neighbours.",
    "Apologies, I have no further information.",
    "Good morning! It's {clock} here, shall we start?",
    "Let me think about it for a moment...",
    "I'll send everything in the next round, promised.",
    "Sure, will do!",
    "You're welcome, {other}.",
    "Is that your current {topic} or an old one?",
    "Are you 100% certain, {other}?",
    "Let's aim to finish within {few} rounds.",
    "I need what you know before I can answer. Could each of you report, please?",
    "Round {few} already. Any update, {other}?",
    "+1",
    "Bye, and good luck to all {few} of you!",
    "Reminder: only share facts that you were told yourself, don't guess.",
)
NUMBER_ANSWERS: Final[tuple[str, ...]] = (
    "The answer is {}.",
    "**{}**",
    "Final answer: {}",
    "{} is what I get.",
    "I'm confident that it's {}!",
    "After putting everything together, I arrive at {}.",
    "My answer is `{}`.",
)
JSON_ANSWERS: Final[tuple[str, ...]] = (
    "```json\n{}\n```",
    "```\n{}\n```",
    "Here is my answer:\n\n```json\n{}\n```",
    "Answer: {}",
)
SEAT_ANSWERS: Final[tuple[str, ...]] = ("{seat}'s answer: {answer}", "As {seat}, I answer {answer}.")
WRAPPINGS: Final[tuple[str, ...]] = ("{}", "{}", "{}", "{}", "{}", "**{}**", "`{}`", '"{}"', "\u201c{}\u201d", "*{}*")
NUMBER_UNITS: Final[tuple[str, ...]] = ("{}", "{}", "{}", "{}", "{}", "exactly {}", "{} exactly", "{} units")
SEPARATORS: Final[tuple[str, ...]] = ("", ",", " ", "_", "'", "\u2019", "\u202f")
BULLETS: Final[tuple[str, ...]] = ("", "- ", "* ", "\u2022 ", "+ ", "{at}. ", "{at}) ")
CLOCKS: Final[tuple[str, ...]] = ("09:30", "10:05", "14:20", "5 pm", "11:45")
MONTHS: Final[tuple[str, ...]] = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
