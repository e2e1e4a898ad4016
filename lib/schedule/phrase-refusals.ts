const ONCE = 'names a single time, and a routine runs again and again';
const UNSAID_DAY = 'is counted from a day that it does not name: choose days of each week or month';
const ZONE = 'names a time zone, which is set beside the schedule';
const BESIDE = 'says from or until when, which is set beside the schedule';
const NO_TIME = 'is no exact time of day';

/** Words with two meanings, or that no schedule can express. They are found before their parts are read. */
export const REFUSALS: readonly (readonly [string, string])[] = [
  [
    "(?:except|but|excluding|unless|skip(?:ping)?|not|no|if)(?: not)?(?: on| it is| it's)?(?: not)?(?: a)?(?: public| bank| school)* holidays?",
    'leaves out holidays: give their dates as days off',
  ],
  [
    '(?:{num} |the |an? )?(?:(?:day|week|hour|minute|{workday})s?|{weekday}) (?:before|after) (?:the |{every} )?(?:{nth}|{weekday}|{month}|end|hour|christmas|easter)',
    'is counted from another time, which a schedule cannot',
  ],
  ['(?:on )?(?:the |{every} )?(?:{nth} )(?:{workday})', 'counts working days, which a schedule cannot'],
  ['(?:on )?(?:the |{every} )?{nth}{and}{nth} {weekday}', 'names two weeks of the month, and a schedule can say one'],
  [
    '(?:on )?(?:the |{every} )?(?:{nth}[ -]to[ -]last|last but \\w+|penultimate)',
    'counts from the end, where a schedule knows only the last',
  ],
  ['(?:on )?(?:the |{every} )?(?:fifth|5th) {weekday}', 'names a fifth week, which few months have'],
  ['(?:bi|semi)-?(?:weekly|monthly)|fortnightly|{every} fortnight', UNSAID_DAY],
  ['{every} (?:other|alternate) (?!hours?\\b)\\w+|{every} (?:second|2nd) {weekday}(?! (?:of|in) )', UNSAID_DAY],
  ['{every} (?!last ){nth} (?:day|week|month|quarter|year)(?! (?:of|in) )', UNSAID_DAY],
  [
    '(?:on |in )?(?:alternat(?:e|ing)|(?:even|odd)(?:[- ]numbered)?)(?: calendar)? (?:(?:day|date|week|month|hour)s?|{weekday})',
    UNSAID_DAY,
  ],
  ['(?:once )?{every} (?!one |1 ){num} (?:day|week|month|quarter|year)s?', UNSAID_DAY],
  [
    '{every} (?:few|couple of|several) \\w+|(?:a few|several|many) times (?:a|per|each) \\w+|{every} so often|{every} now and (?:then|again)',
    'does not say how often',
  ],
  ['(?:during |in |within )?(?:business|working|office|opening) hours', 'does not say from when to when'],
  [
    '(?:at )?(?:around|about|roughly|by|before|after|no later than) {plain}|at (?:around|about|roughly) {clock}',
    NO_TIME,
  ],
  ['{every} (?:{num} )?seconds?(?! (?:{weekday}|hour))', 'is shorter than a minute'],
  ['on \\d{1,2}[./]\\d{1,2}(?:[./]\\d{2,4})?', 'could be read with the day or with the month first'],
  ['{every} weekend', 'may mean once or on both days'],
  ['(?:once|twice|{num} times) an hour|on the quarter hour', 'does not say at which minutes'],
];

/** The cities of the time zones. */
const CITIES = Intl.supportedValuesOf('timeZone')
  .filter((zone) => zone.includes('/'))
  .map((zone) => zone.replace(/^.*\//, '').replaceAll('_', ' ').toLowerCase())
  .join('|');

/** Times and days of the year, in words that no one uses for anything else. */
const DATES =
  '(?:(?:{nth} )?{weekday}|(?:\\d{1,2}(?:st|nd|rd|th)? )?(?!may\\b){month}(?: \\d{1,2})?|\\d{1,2} may|in may|\\d{4}-\\d\\d-\\d\\d|\\d{1,4}(?:st|nd|rd|th)?|christmas|easter|spring|summer|winter)';

/** Words that change the schedule beside them, and mean something else in the rest of a sentence. */
export const LIMITS: readonly (readonly [string, string])[] = [
  [
    `(?:in |at )?(?:utc|gmt|zulu|bst|ist|jst|kst|msk|sgt|hkt|mez|[ce]es?t|a[cew]?[sd]t|nz[sd]t|[ecmp][sd]?t|\\d{1,2}(?::\\d{2})?z)`,
    ZONE,
  ],
  [
    `in (?:${CITIES}|(?:the )?(?:uk|usa?|eu)|germany|france|spain|italy|india|japan|china|canada|australia)|(?:${CITIES})(?= time|\\)|$)|(?:africa|america|asia|atlantic|australia|europe|pacific)/[a-z_/]+`,
    ZONE,
  ],
  [
    'eastern|pacific|(?:in )?(?:[a-z]+ )?(?:eastern|central|mountain|pacific|european|british|indian|[a-z]+(?:ese|ish|man)|us|uk|local|standard|daylight) time',
    ZONE,
  ],
  [
    '(?:for|over)(?: the)?(?: next| coming)? (?:{num}|an?|few|several) (?:day|week|month|year)s?|for the rest of|{num} times|this (?:week|month|quarter|year)',
    BESIDE,
  ],
  [
    '(?:from|until|till|after|before|by) (?:{plain}|\\d{1,2}(?!\\w|[./-]\\d| {month}))',
    'gives one end of a span of the day: say both',
  ],
  [
    `(?:until|till|through|thru|ending|up to|starting|beginning|effective|as of|from)(?: on| in| from| the)* (?:${DATES}|end|next|tomorrow|today)`,
    BESIDE,
  ],
  ['or (?:(?:at|on|in|every) )*(?:{clock}|{weekday}|{month}|so)', 'leaves a choice: say one'],
  [
    'and \\d{1,2}(?! in the| {month}|[:.]\\d| ?[ap]\\.?m|\\w)',
    'does not say of which part of the day the last time is',
  ],
  ['and (?:a half|{num} minutes?)', 'does not go evenly into an hour or a day'],
  [
    `(?:except|but|excluding|unless|apart from|other than|without|skip(?:ping)?|not|never)(?: (?:for|on|in|at|during|between|from|the|a|any|not|it|is))* (?:${DATES}|{part}s?|{workday}s?|weekends?|{named}|lunch(?:time)?)`,
    'leaves out times, which a schedule cannot: give dates as days off',
  ],
  [
    '(?:in|during|over|throughout)(?: the| {every})* (?:spring|summer|autumn|fall|winter|q[1-4]|day(?:time)?|{part}|season|term|(?:school|summer|winter) \\w+)',
    'is no exact span: say from when to when',
  ],
  [
    '(?:in|on|during|of|for) (?:the |{every} )?{nth} (?:{num} )?(?:weeks?|days|half)',
    'names a part of a month or year, which a schedule cannot',
  ],
  // A misspelled part of the day.
  ['in the (?:mor|eve|aft|nig)\\w+', NO_TIME],
];

/** Words without a rhythm, with the reason to give if the sentence has no other words about a rhythm. */
export const NO_RHYTHM: readonly (readonly [string, string])[] = [
  ['\\d{4}-\\d{2}-\\d{2}|\\d{1,2}/\\d{1,2}/\\d{2,4}', ONCE],
  [
    'tomorrow|tonight|today|next (?:{weekday}|week|month)|this (?:{part}|{weekday})|in {num} (?:minute|hour|day|week)s?',
    ONCE,
  ],
  ['right now|just once|only once|soon|as soon as possible', ONCE],
  ['(?:last|past|previous|since|following) (?:{weekday}|week|month|day|night|quarter|year)(?! of| {every})', ONCE],
  [
    '(?:at |by |on )?(?:the )?(?:end|start|beginning|middle) of (?:the |{every} )?(?:day|week|month|quarter|year)',
    NO_TIME,
  ],
  ['mid-?(?:week|month)', NO_TIME],
  [
    'regularly|often|sometimes|occasionally|frequently|periodically|from time to time|now and then|whenever',
    'does not say when',
  ],
];
