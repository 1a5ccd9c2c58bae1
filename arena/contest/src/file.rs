//! A contest as its organiser writes it, a TOML file, and the rules that follow from it, which the
//! store keeps.

use std::{fmt, io, path::Path, time::Duration};

use arena_store::Contest;
use arena_tournament::{find_game, parse_limit};
use jiff::{Timestamp, civil, tz::TimeZone};
use referee_bots::{is_of_a_name, read_input_text, read_stream_text};
use referee_core::{Root, expected_words, is_printable};
use serde::{Deserialize, Serialize};

use crate::{ContestError, error::invalid};

/// The most bytes of a file.
const LARGEST: u64 = 1024 * 1024;
/// The groups of the exam in Connect Four.
const GROUPS: u32 = 5;
/// The most cases of an exam.
const MOST_CASES: usize = 100;
/// The most bytes that an entry may have, whatever the file says.
pub const LARGEST_UPLOAD: u64 = 4 * 1024 * 1024;
/// The most characters of a name: it is a part of the names of tournaments.
const LONGEST_NAME: usize = 24;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContestFile {
    name: Option<String>,
    title: Option<String>,
    game: String,
    zone: Option<String>,
    opens: Moment,
    freezes: Option<Moment>,
    closes: Moment,
    #[serde(default)]
    counts: Counts,
    #[serde(default)]
    limits: LimitsTable,
    #[serde(default)]
    exam: ExamTable,
    league: Option<LeagueTable>,
    r#final: Option<FinalTable>,
    keep_days: Option<u32>,
}

/// A time with or without an offset: as TOML has it, or as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Moment {
    Toml(toml::value::Datetime),
    Text(String),
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    counted: Option<u32>,
    all: Option<u32>,
    apart: Option<String>,
    upload_kb: Option<u64>,
    gate: Option<i64>,
    #[serde(rename = "move")]
    per_move: Option<String>,
    memory_mib: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExamTable {
    groups: Option<u32>,
    #[serde(default)]
    case: Vec<CaseTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseTable {
    name: String,
    seed: String,
    minimum: i64,
    points: Option<i64>,
    opponent: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeagueTable {
    #[serde(default)]
    shape: LeagueShape,
    deals: Option<u64>,
    every: Option<String>,
    #[serde(default)]
    quiet: Vec<String>,
    games_a_day: Option<u32>,
    challenges_a_day: Option<u32>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LeagueShape {
    #[default]
    RoundRobin,
    Ladder,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FinalTable {
    deals: Option<u64>,
}

/// Which of a contestant's entries counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// The best in each part of the exam.
    #[default]
    Best,
    /// The last in each part of the exam.
    Last,
}

/// The rules of a contest. All times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContestRules {
    /// The name for people.
    pub title: String,
    /// The game's name.
    pub game: String,
    /// The time zone in which times are shown, as in `Asia/Shanghai`.
    pub zone: String,
    /// From when on entries are taken.
    pub opens_unix_ms: i64,
    /// From when on the board stays as it is for all but organisers.
    pub freezes_unix_ms: Option<i64>,
    /// From when on entries are late: this moment is late already.
    pub closes_unix_ms: i64,
    /// Which entry of a contestant counts.
    pub counts: Counts,
    /// How much may be handed in.
    pub limits: SubmitLimits,
    /// The limit of a move.
    pub per_move: Duration,
    /// The most memory that a bot may add after its start, in MiB.
    pub memory_mib: u64,
    /// How an entry is examined.
    pub exam: ExamRules,
    /// Rounds between all valid entries, if there are to be any.
    pub league: Option<LeagueRules>,
    /// The final after the deadline, if there is to be one.
    pub r#final: Option<FinalRules>,
    /// The days after its publication for which its people are kept. Without it they are until somebody
    /// forgets them.
    #[serde(default)]
    pub keep_days: Option<u32>,
}

/// How much a contestant may hand in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitLimits {
    /// The most entries that count, over all parts of the exam.
    pub counted: u32,
    /// The most entries, with those that could not be built or started.
    pub all: u32,
    /// The shortest time between two.
    pub apart: Duration,
    /// The most bytes of one.
    pub upload: u64,
    /// A part after the first may be tried once only as long as the best of the part before is below
    /// this.
    pub gate: Option<i64>,
}

/// How an entry is examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExamRules {
    /// Groups of graded opponents, of which an entry plays one.
    Groups {
        /// How many there are.
        groups: u32,
    },
    /// Cases of fixed rounds, of which an entry plays all.
    Cases(Vec<ExamCase>),
    /// None but a game against `random`, which shows that an entry starts: entries meet in the league
    /// and the final.
    None {},
}

/// A case: eight rounds that are the same for everybody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExamCase {
    /// Its name.
    pub name: String,
    /// The seed of its deals, which nobody is told.
    pub seed: String,
    /// The sum of scores that must be reached.
    pub minimum: i64,
    /// The points for that.
    pub points: i64,
    /// The SPEC of the opponent.
    pub opponent: String,
}

/// Rounds between all valid entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeagueRules {
    /// The deals of a match.
    pub deals: u64,
    /// The time from the beginning of one round to that of the next.
    pub every: Duration,
    /// Times of day at which no round begins.
    #[serde(default)]
    pub quiet: Vec<QuietHours>,
    /// Where those of near ratings meet in a round, and not everybody everybody.
    #[serde(default)]
    pub ladder: Option<LadderRules>,
}

/// What a ladder asks for beside the rules of every league.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LadderRules {
    /// The most games of a contestant in a day of the contest's zone.
    pub games_a_day: Option<u32>,
    /// The most challenges of a contestant in a day of the contest's zone.
    pub challenges_a_day: u32,
}

/// A part of every day, half open, in minutes of the contest's zone; it may have midnight within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietHours {
    /// Where it begins.
    pub from: u16,
    /// Where it is over.
    pub to: u16,
}

/// The final.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalRules {
    /// The deals of a match.
    pub deals: u64,
}

impl ContestRules {
    /// The rules of a stored contest.
    ///
    /// # Errors
    ///
    /// Another version has written them.
    pub fn of(contest: &Contest) -> Result<Self, ContestError> {
        serde_json::from_value(contest.definition.clone()).or_else(|error| {
            invalid(format!(
                "the rules of {} can't be read ({error}): run it with the arena that made it",
                contest.name
            ))
        })
    }

    /// Reads a file and checks everything in it. Gives the contest's name, which is that of the file
    /// where it says none, and its rules.
    ///
    /// # Errors
    ///
    /// [`ContestError::Invalid`] says what was expected.
    pub fn read(path: &Path) -> Result<(String, Self), ContestError> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = read_input_text(path, LARGEST);
        Self::read_text(&path.display(), text, &stem)
    }

    /// Reads a stream until its end, such as standard input, which people call `what`. It must say the
    /// contest's name.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_stream(what: &str, stream: impl io::Read) -> Result<(String, Self), ContestError> {
        Self::read_text(&what, read_stream_text(stream, LARGEST), "")
    }

    fn read_text(
        what: &dyn fmt::Display,
        text: io::Result<String>,
        name: &str,
    ) -> Result<(String, Self), ContestError> {
        let text = text.or_else(|error| invalid(format!("{what}: {error}")))?;
        let read = Self::parse(&text, name);
        read.or_else(|error| invalid(format!("{what}: {error}")))
    }

    /// Reads the text of a file. `name` is the contest's name where the text says none.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn parse(text: &str, name: &str) -> Result<(String, Self), ContestError> {
        let file: ContestFile = toml::from_str(text).or_else(|error: toml::de::Error| {
            // Without the line itself, which may be the one with a seed.
            let before = error.span().map_or(0, |span| span.start);
            let line = text[..before].matches('\n').count() + 1;
            invalid(format!("line {line}: {}", expected_words(error.message())))
        })?;
        let name = file.name.clone().unwrap_or_else(|| name.to_owned());
        let begins = name.starts_with(|c: char| c.is_alphanumeric());
        if !begins || name.chars().count() > LONGEST_NAME || !name.chars().all(is_of_a_name) {
            return invalid(format!(
                "name: expected 1 to {LONGEST_NAME} letters, digits, dots, hyphens and underscores, \
                 the first a letter or a digit, found \"{name}\""
            ));
        }
        let rules = file.rules(&name)?;
        Ok((name, rules))
    }

    /// A moment as people of this contest read it: `2027-03-21 00:00 Asia/Shanghai`.
    #[must_use]
    pub fn shown(&self, unix_ms: i64) -> String {
        let zone = TimeZone::get(&self.zone).unwrap_or(TimeZone::UTC);
        match Timestamp::from_millisecond(unix_ms) {
            Ok(at) => {
                let at = at.to_zoned(zone);
                format!("{} {}", at.strftime("%Y-%m-%d %H:%M"), self.zone)
            }
            Err(_) => "never".to_owned(),
        }
    }

    /// The rules of its ladder, where its league is one.
    #[must_use]
    pub fn ladder(&self) -> Option<&LadderRules> {
        self.league.as_ref()?.ladder.as_ref()
    }

    /// True at a time of day at which no round of the league begins.
    #[must_use]
    pub fn is_quiet(&self, unix_ms: i64) -> bool {
        let at = self.local(unix_ms);
        let minute = 60 * at.hour() as u16 + at.minute() as u16;
        let quiet = self.league.iter().flat_map(|league| &league.quiet);
        quiet.copied().any(|hours| hours.has(minute))
    }

    /// The day of the contest's zone, as in `2027-03-21`.
    #[must_use]
    pub fn day(&self, unix_ms: i64) -> String {
        self.local(unix_ms).date().to_string()
    }

    /// What clocks of the contest's zone show.
    fn local(&self, unix_ms: i64) -> civil::DateTime {
        let zone = TimeZone::get(&self.zone).unwrap_or(TimeZone::UTC);
        let at = Timestamp::from_millisecond(unix_ms).unwrap_or_default();
        at.to_zoned(zone).datetime()
    }

    /// Reads a moment as an organiser writes it, in the contest's zone where it says no offset.
    ///
    /// # Errors
    ///
    /// [`ContestError::Invalid`] says what was expected.
    pub fn moment(&self, what: &str, text: &str) -> Result<i64, ContestError> {
        unix_ms(what, text, &self.zone)
    }
}

impl ContestFile {
    fn rules(self, name: &str) -> Result<ContestRules, ContestError> {
        let game = find_game(&self.game)?.info().name.to_owned();
        let zone = self.zone.unwrap_or_else(|| "UTC".to_owned());
        if TimeZone::get(&zone).is_err() {
            return invalid(format!(
                "zone: expected the name of a time zone, as in Europe/Berlin or Asia/Shanghai, \
                 found \"{zone}\""
            ));
        }
        let opens_unix_ms = self.opens.unix_ms("opens", &zone)?;
        let closes_unix_ms = self.closes.unix_ms("closes", &zone)?;
        let freezes_unix_ms = match &self.freezes {
            Some(moment) => Some(moment.unix_ms("freezes", &zone)?),
            None => None,
        };
        if opens_unix_ms >= closes_unix_ms {
            return invalid("closes: expected a time after that of opens");
        }
        if freezes_unix_ms.is_some_and(|at| at < opens_unix_ms || at > closes_unix_ms) {
            return invalid("freezes: expected a time between those of opens and closes");
        }
        let title = self.title.unwrap_or_else(|| name.to_owned());
        if title.is_empty() || title.chars().count() > 200 || !title.chars().all(is_printable) {
            return invalid("title: expected 1 to 200 characters in one line");
        }
        let exam = self.exam.rules(&game)?;
        let limits = self.limits.submit(&exam)?;
        let memory_mib = self.limits.memory_mib.unwrap_or(1024);
        if !(1..=1 << 20).contains(&memory_mib) {
            return invalid("limits.memory_mib: expected 1 to 1048576");
        }
        let time = |what: &str, text: Option<&str>, usual| match text {
            None => Ok(usual),
            Some(text) => parse_limit(text).or_else(|why| invalid(format!("{what}: {why}"))),
        };
        let per_move = self.limits.per_move.as_deref();
        let per_move = time("limits.move", per_move, Duration::from_secs(3))?;
        let league = match &self.league {
            None => None,
            Some(league) => {
                let usual = match league.shape {
                    LeagueShape::RoundRobin => Duration::from_hours(24),
                    LeagueShape::Ladder => Duration::from_mins(10),
                };
                let quiet = league.quiet.iter().map(|text| QuietHours::parse(text));
                let deals = deals("league.deals", league.deals, 2)?;
                let seats = find_game(&game)?.info().seats;
                Some(LeagueRules {
                    deals,
                    every: time("league.every", league.every.as_deref(), usual)?,
                    quiet: quiet.collect::<Result<_, _>>()?,
                    ladder: league.ladder(games_of_each(deals, seats))?,
                })
            }
        };
        let r#final = match &self.r#final {
            None => None,
            Some(the_final) => Some(FinalRules {
                deals: deals("final.deals", the_final.deals, 10)?,
            }),
        };
        if matches!(exam, ExamRules::None {}) && league.is_none() && r#final.is_none() {
            return invalid(format!(
                "there is no exam of {game}: add [league] or [final], in which entries meet"
            ));
        }
        if self.keep_days == Some(0) {
            return invalid("keep_days: expected 1 or more days after the contest is published");
        }
        Ok(ContestRules {
            title,
            game,
            zone,
            opens_unix_ms,
            freezes_unix_ms,
            closes_unix_ms,
            counts: self.counts,
            limits,
            per_move,
            memory_mib,
            exam,
            league,
            r#final,
            keep_days: self.keep_days,
        })
    }
}

/// The games of each who plays so many deals of a game with so many seats in all of them.
pub(crate) fn games_of_each(deals: u64, seats: u8) -> u64 {
    deals * u64::from(seats)
}

impl LeagueTable {
    /// The rules of a ladder in whose rounds each plays so many games.
    fn ladder(&self, of_round: u64) -> Result<Option<LadderRules>, ContestError> {
        if self.shape == LeagueShape::RoundRobin {
            let of_ladders = [
                ("games_a_day", self.games_a_day.is_some()),
                ("challenges_a_day", self.challenges_a_day.is_some()),
            ];
            return match of_ladders.iter().find(|(_, said)| *said) {
                Some((key, _)) => invalid(format!("league.{key}: it is for shape = \"ladder\"")),
                None => Ok(None),
            };
        }
        if self
            .games_a_day
            .is_some_and(|most| u64::from(most) < of_round)
        {
            return invalid(format!(
                "league.games_a_day: expected at least the {of_round} games that each plays in a \
                 round, or fewer league.deals"
            ));
        }
        Ok(Some(LadderRules {
            games_a_day: self.games_a_day,
            challenges_a_day: self.challenges_a_day.unwrap_or(3),
        }))
    }
}

impl QuietHours {
    fn parse(text: &str) -> Result<Self, ContestError> {
        let minute = |text: &str| {
            let time: civil::Time = text.trim().parse().ok()?;
            Some(60 * time.hour() as u16 + time.minute() as u16)
        };
        let read = text.split_once('-').and_then(|(from, to)| {
            let (from, to) = (minute(from)?, minute(to)?);
            (from != to).then_some(Self { from, to })
        });
        read.map_or_else(
            || {
                invalid(format!(
                    "league.quiet: expected times of day, as in \"23:00-07:00\", found \"{text}\""
                ))
            },
            Ok,
        )
    }

    /// True at this minute of the day.
    const fn has(self, minute: u16) -> bool {
        match self.from < self.to {
            true => self.from <= minute && minute < self.to,
            false => minute >= self.from || minute < self.to,
        }
    }
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        let ([a, b], [c, d]) = ([from / 60, from % 60], [to / 60, to % 60]);
        write!(f, "{a:02}:{b:02}-{c:02}:{d:02}")
    }
}

impl LimitsTable {
    fn submit(&self, exam: &ExamRules) -> Result<SubmitLimits, ContestError> {
        let counted = self.counted.unwrap_or(10);
        let all = self.all.unwrap_or(40.max(counted));
        if counted == 0 || all < counted {
            return invalid("limits: expected counted from 1, and all at least as much");
        }
        let apart = match self.apart.as_deref() {
            None => Duration::from_mins(1),
            Some("0" | "0s") => Duration::ZERO,
            Some(text) => {
                parse_limit(text).or_else(|why| invalid(format!("limits.apart: {why}")))?
            }
        };
        let upload = self.upload_kb.unwrap_or(100).saturating_mul(1000);
        if upload == 0 || upload > LARGEST_UPLOAD {
            return invalid(format!(
                "limits.upload_kb: expected 1 to {}",
                LARGEST_UPLOAD / 1000
            ));
        }
        let has_groups = matches!(exam, ExamRules::Groups { .. });
        if self.gate.is_some() && !has_groups {
            return invalid("limits.gate: it is for an exam of groups, as in Connect Four");
        }
        Ok(SubmitLimits {
            counted,
            all,
            apart,
            upload,
            gate: has_groups.then(|| self.gate.unwrap_or(60)),
        })
    }
}

impl ExamTable {
    fn rules(self, game: &str) -> Result<ExamRules, ContestError> {
        match (game, self.groups, self.case.is_empty()) {
            ("connect_four", groups, true) => match groups.unwrap_or(GROUPS) {
                0 => Ok(ExamRules::None {}),
                groups @ 1..=GROUPS => Ok(ExamRules::Groups { groups }),
                _ => invalid(format!("exam.groups: expected 0 to {GROUPS}")),
            },
            ("mahjong", None, false) => cases(self.case),
            (_, None, true) => Ok(ExamRules::None {}),
            (_, Some(_), _) => invalid("exam.groups: it is for Connect Four"),
            (_, None, false) => invalid("[[exam.case]]: it is for Mahjong"),
        }
    }
}

fn cases(all: Vec<CaseTable>) -> Result<ExamRules, ContestError> {
    if all.len() > MOST_CASES {
        return invalid(format!("[[exam.case]]: expected at most {MOST_CASES}"));
    }
    let mut cases: Vec<ExamCase> = Vec::new();
    for case in all {
        let length = case.name.chars().count();
        if !(1..=60).contains(&length) || !case.name.chars().all(is_printable) {
            return invalid("exam.case: expected a name of 1 to 60 characters in one line");
        }
        if cases.iter().any(|known| known.name == case.name) {
            return invalid(format!("exam.case: two are called \"{}\"", case.name));
        }
        if let Err(error) = case.seed.parse::<Root>() {
            return invalid(format!("exam.case \"{}\": {error}", case.name));
        }
        cases.push(ExamCase {
            name: case.name,
            seed: case.seed,
            minimum: case.minimum,
            points: case.points.unwrap_or(10),
            opponent: case.opponent.unwrap_or_else(|| "house:simple".to_owned()),
        });
    }
    Ok(ExamRules::Cases(cases))
}

fn deals(what: &str, said: Option<u64>, usual: u64) -> Result<u64, ContestError> {
    match said.unwrap_or(usual) {
        deals @ 1..=10_000 => Ok(deals),
        _ => invalid(format!("{what}: expected 1 to 10000")),
    }
}

impl Moment {
    fn unix_ms(&self, what: &str, zone: &str) -> Result<i64, ContestError> {
        match self {
            Self::Toml(time) => unix_ms(what, &time.to_string(), zone),
            Self::Text(text) => unix_ms(what, text, zone),
        }
    }
}

/// A moment: with an offset it is that one, without it is the time of day in the zone. A time of day
/// that a change of the clocks has left out or repeated names no moment.
fn unix_ms(what: &str, text: &str, zone: &str) -> Result<i64, ContestError> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at.as_millisecond());
    }
    let Ok(time) = text.parse::<civil::DateTime>() else {
        return invalid(format!(
            "{what}: expected a day and a time, as in 2027-03-21T20:00, or with an offset, as in \
             2027-03-21T20:00:00+08:00, found \"{text}\""
        ));
    };
    let of_zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    match of_zone.to_ambiguous_timestamp(time).unambiguous() {
        Ok(at) => Ok(at.as_millisecond()),
        Err(_) => invalid(format!(
            "{what}: the clocks of {zone} are changed then, so that {text} is left out or comes \
             twice: write the offset, as in {text}+01:00"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPRING: &str = "game = \"connect-four\"\nzone = \"Asia/Shanghai\"\n\
        opens = 2027-03-01T08:00:00\nfreezes = \"2027-03-20T20:00\"\ncloses = 2027-03-21T00:00:00\n";

    fn spring(more: &str) -> Result<ContestRules, String> {
        let read = ContestRules::parse(&format!("{SPRING}{more}"), "spring");
        read.map(|(_, rules)| rules)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_short_file_has_the_limits_of_the_course() {
        let rules = spring("").unwrap();
        assert_eq!(rules.title, "spring");
        assert_eq!(rules.exam, ExamRules::Groups { groups: 5 });
        assert_eq!(
            rules.limits,
            SubmitLimits {
                counted: 10,
                all: 40,
                apart: Duration::from_mins(1),
                upload: 100_000,
                gate: Some(60),
            }
        );
        // Midnight in Shanghai is 16:00 of the day before in UTC.
        assert_eq!(rules.closes_unix_ms, 1_805_558_400_000);
        assert_eq!(
            rules.shown(rules.closes_unix_ms),
            "2027-03-21 00:00 Asia/Shanghai"
        );
        let json = serde_json::to_value(&rules).unwrap();
        assert_eq!(serde_json::from_value::<ContestRules>(json).unwrap(), rules);
    }

    #[test]
    fn times_of_day_that_no_clock_shows_once_are_refused() {
        let berlin = |time: &str| unix_ms("closes", time, "Europe/Berlin");
        // From 2 o'clock to 3 in March, and twice from 2 to 3 in October.
        for wrong in ["2027-03-28T02:30", "2027-10-31T02:30"] {
            let why = berlin(wrong).unwrap_err().to_string();
            assert!(why.contains("write the offset"), "{why}");
        }
        let of_summer = berlin("2027-10-31T02:30:00+02:00").unwrap();
        let of_winter = berlin("2027-10-31T02:30:00+01:00").unwrap();
        assert_eq!(of_winter - of_summer, 3_600_000);
        assert!(berlin("soon").is_err());
    }

    #[test]
    fn quiet_hours_are_those_of_the_zone_and_half_open() {
        let rules = spring("[league]\nquiet = [\"23:00-07:00\", \"12:00-12:30\"]\n").unwrap();
        let quiet = |time: &str| {
            let at = unix_ms("now", &format!("2027-03-05T{time}"), &rules.zone).unwrap();
            rules.is_quiet(at)
        };
        for time in ["23:00", "00:00", "06:59", "12:00", "12:29"] {
            assert!(quiet(time), "{time}");
        }
        for time in ["22:59", "07:00", "11:59", "12:30"] {
            assert!(!quiet(time), "{time}");
        }
        let midnight = unix_ms("now", "2027-03-05T00:00", &rules.zone).unwrap();
        assert_eq!(rules.day(midnight), "2027-03-05");
        assert_eq!(rules.day(midnight - 1), "2027-03-04");
    }

    #[test]
    fn a_ladder_has_rounds_of_ten_minutes_and_three_challenges() {
        let league = spring("[league]\nshape = \"ladder\"\n").unwrap().league;
        let league = league.unwrap();
        assert_eq!((league.deals, league.every), (2, Duration::from_mins(10)));
        let ladder = LadderRules {
            games_a_day: None,
            challenges_a_day: 3,
        };
        assert_eq!(league.ladder, Some(ladder));
    }

    #[test]
    fn what_is_wrong_says_what_was_expected() {
        for (more, expected) in [
            ("[limits]\ncounted = 0", "counted from 1"),
            ("[limits]\nall = 5", "all at least as much"),
            ("[limits]\napart = \"soon\"", "limits.apart"),
            ("[limits]\nupload_kb = 90000", "limits.upload_kb"),
            ("[limits]\nkounted = 3", "line 7"),
            ("[exam]\ngroups = 6", "exam.groups"),
            (
                "[[exam.case]]\nname = \"a\"\nseed = \"s\"\nminimum = 1",
                "it is for Mahjong",
            ),
            ("[exam]\ngroups = 0", "add [league] or [final]"),
            ("[league]\ndeals = 0", "league.deals"),
            ("[league]\nquiet = [\"at night\"]", "as in \"23:00-07:00\""),
            ("[league]\nquiet = [\"07:00-07:00\"]", "times of day"),
            ("[league]\nchallenges_a_day = 1", "shape = \"ladder\""),
            (
                "[league]\nshape = \"ladder\"\ngames_a_day = 3",
                "at least the 4 games",
            ),
        ] {
            let why = spring(more).unwrap_err();
            assert!(why.contains(expected), "{more}: {why}");
        }
        let case = "[[exam.case]]\nname = \"a\"\nseed = \"hush\"\nminimum = 1\nx = 1";
        let why = spring(case).unwrap_err();
        assert!(!why.contains("hush"), "{why}");
        let zone = SPRING.replace("Asia/Shanghai", "Mars/Base");
        let why = ContestRules::parse(&zone, "spring")
            .unwrap_err()
            .to_string();
        assert!(why.contains("Europe/Berlin"), "{why}");
    }
}
