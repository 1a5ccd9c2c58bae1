//! What may be handed in: a function of the rules, the time, and what was handed in before.

use std::time::Duration;

use arena_events::exam::ExamVerdict;
use arena_store::{Contestant, Entry, EntryState, Place};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ContestRules,
    exam::verdict_words,
    file::{Counts, ExamRules},
};

/// The state of a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing is taken yet.
    Announced,
    /// Entries are taken, and the board says all.
    Open,
    /// Entries are taken, and the board stays as it was.
    Frozen,
    /// Entries are late; the final may be played.
    Closed,
    /// Everything is told.
    Published,
}

impl Phase {
    /// The phase in a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::Open => "open",
            Self::Frozen => "frozen",
            Self::Closed => "closed",
            Self::Published => "published",
        }
    }
}

/// Reason why something is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is too early.
    #[error("entries are taken from {0} on")]
    NotOpen(String),
    /// The contestant is out.
    #[error("you are out of this contest: {0}")]
    Disqualified(String),
    /// There is no such part.
    #[error("expected the group that your entry is for: a group from 1 to {0}")]
    NoGroup(u32),
    /// The exam has no parts to choose from.
    #[error("the exam has no groups: leave the group out")]
    NoGroups,
    /// It has too many bytes.
    #[error("an entry may have {most} bytes, and this one has {found}")]
    TooLarge {
        /// The most.
        most: u64,
        /// Its bytes.
        found: u64,
    },
    /// The last one was just before.
    #[error("one entry in {}: wait {} more", humantime::format_duration(*.apart), humantime::format_duration(Duration::from_secs(.wait.as_millis().div_ceil(1000) as u64)))]
    TooSoon {
        /// The shortest time between two.
        apart: Duration,
        /// The time that is left.
        wait: Duration,
    },
    /// No counted place is left.
    #[error("you have handed in {0} entries that count, and no more may count")]
    NoneLeft(u32),
    /// No place at all is left.
    #[error(
        "you have handed in {0} entries, with those that did not build or start: there are no more"
    )]
    NoneAtAll(u32),
    /// The part before is to be passed first.
    #[error(
        "group {group} may be tried once as long as your best of group {} is below {gate}{}",
        .group - 1, .best.map_or_else(String::new, |best| format!("; it is {best}"))
    )]
    Gate {
        /// The part.
        group: u32,
        /// The points that are needed in the part before.
        gate: i64,
        /// The best that was reached there; none where the board is frozen and this is not told.
        best: Option<i64>,
    },
}

impl ContestRules {
    /// The phase of a contest with these rules.
    #[must_use]
    pub fn phase(&self, now_unix_ms: i64, is_published: bool) -> Phase {
        if is_published {
            Phase::Published
        } else if now_unix_ms < self.opens_unix_ms {
            Phase::Announced
        } else if now_unix_ms >= self.closes_unix_ms {
            Phase::Closed
        } else if self.freezes_unix_ms.is_some_and(|at| now_unix_ms >= at) {
            Phase::Frozen
        } else {
            Phase::Open
        }
    }

    /// The moment at which the people of a contest that was published are forgotten by themselves.
    #[must_use]
    pub fn forgets_unix_ms(&self, published_unix_ms: Option<i64>) -> Option<i64> {
        const DAY: i64 = 24 * 3_600_000;
        let (at, days) = published_unix_ms.zip(self.keep_days)?;
        Some(at.saturating_add(i64::from(days) * DAY))
    }

    /// The place of something that is handed in now, by what the contestant has handed in before. The
    /// limits that count do not hold for what is late; those that keep the machines free do.
    ///
    /// # Errors
    ///
    /// The reason why it is not taken.
    pub fn place(
        &self,
        contestant: &Contestant,
        before: &[Entry],
        part: u32,
        bytes: u64,
        now_unix_ms: i64,
    ) -> Result<Place, Refusal> {
        if let Some(reason) = &contestant.disqualified {
            return Err(Refusal::Disqualified(reason.clone()));
        }
        if now_unix_ms < self.opens_unix_ms {
            return Err(Refusal::NotOpen(self.shown(self.opens_unix_ms)));
        }
        match self.exam {
            ExamRules::Groups { groups } if !(1..=groups).contains(&part) => {
                return Err(Refusal::NoGroup(groups));
            }
            ExamRules::Cases(_) | ExamRules::None {} if part != 0 => return Err(Refusal::NoGroups),
            _ => {}
        }
        let limits = &self.limits;
        if bytes > limits.upload {
            return Err(Refusal::TooLarge {
                most: limits.upload,
                found: bytes,
            });
        }
        let taken = before.iter().filter(|entry| !is_ours(entry)).count();
        if taken >= limits.all as usize {
            return Err(Refusal::NoneAtAll(limits.all));
        }
        if let Some(last) = before.last() {
            // A clock that was set back keeps nobody out for longer than that.
            let since = now_unix_ms - last.received_unix_ms;
            let since = Duration::from_millis(since.max(0).cast_unsigned());
            if let Some(wait) = limits
                .apart
                .checked_sub(since)
                .filter(|wait| !wait.is_zero())
            {
                return Err(Refusal::TooSoon {
                    apart: limits.apart,
                    wait,
                });
            }
        }
        let until = contestant.until_unix_ms.unwrap_or(self.closes_unix_ms);
        if now_unix_ms >= until {
            return Ok(Place {
                official: false,
                counted: false,
            });
        }
        let counted = |entry: &&Entry| entry.place.counted;
        if before.iter().filter(counted).count() >= limits.counted as usize {
            return Err(Refusal::NoneLeft(limits.counted));
        }
        if let Some(gate) = limits.gate.filter(|_| part > 1) {
            let best = best_of(before, part - 1).and_then(|entry| entry.score);
            let best = best.unwrap_or(0);
            let tried = before
                .iter()
                .filter(counted)
                .any(|entry| entry.part == part);
            if best < gate && tried {
                let freezes = self.freezes_unix_ms.unwrap_or(i64::MAX);
                let is_told = !judged(before, part - 1).any(|one| one.received_unix_ms >= freezes);
                return Err(Refusal::Gate {
                    group: part,
                    gate,
                    best: is_told.then_some(best),
                });
            }
        }
        Ok(Place {
            official: true,
            counted: true,
        })
    }

    /// How many entries a contestant who has handed these in may still hand in: those that count, and
    /// all.
    #[must_use]
    pub fn left<'a>(&self, entries: impl IntoIterator<Item = &'a Entry>) -> (u32, u32) {
        let (mut counted, mut taken) = (0, 0);
        for entry in entries {
            counted += usize::from(entry.place.counted);
            taken += usize::from(!is_ours(entry));
        }
        let left = |most: u32, found: usize| most.saturating_sub(found as u32);
        let all = left(self.limits.all, taken);
        (left(self.limits.counted, counted).min(all), all)
    }

    /// Of the entries of one contestant the one that counts in a part of the exam.
    #[must_use]
    pub fn counting<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a Entry>,
        part: u32,
    ) -> Option<&'a Entry> {
        match self.counts {
            Counts::Best => best_of(entries, part),
            Counts::Last => judged(entries, part).last(),
        }
    }

    /// The parts of the exam; there are none without one.
    pub fn parts(&self) -> impl Iterator<Item = u32> + use<> {
        match self.exam {
            ExamRules::Groups { groups } => 1..groups + 1,
            ExamRules::Cases(_) => 0..1,
            ExamRules::None {} => 0..0,
        }
    }
}

/// True if our own failure is why it has no score.
fn is_ours(entry: &Entry) -> bool {
    let outcome = entry.outcome.as_ref();
    let fault = outcome.and_then(|outcome| outcome["fault"]["verdict"].as_str());
    entry.state == EntryState::Failed && fault == Some(verdict_words(ExamVerdict::SystemError))
}

fn judged<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    part: u32,
) -> impl Iterator<Item = &'a Entry> {
    let of_part = move |entry: &&Entry| {
        entry.part == part && entry.place.official && entry.state == EntryState::Judged
    };
    entries.into_iter().filter(of_part)
}

/// The first of those with the highest score: a later one that is as good changes nothing.
fn best_of<'a>(entries: impl IntoIterator<Item = &'a Entry>, part: u32) -> Option<&'a Entry> {
    judged(entries, part).reduce(|best, next| match next.score > best.score {
        true => next,
        false => best,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn rules() -> ContestRules {
        let text = "game = \"connect-four\"\nopens = 2027-03-01T00:00:00\n\
            closes = 2027-03-02T00:00:00\nfreezes = 2027-03-01T20:00:00\n";
        ContestRules::parse(text, "spring").unwrap().1
    }

    fn contestant() -> Contestant {
        Contestant {
            number: 1,
            pseudonym: "otter".to_owned(),
            team: None,
            until_unix_ms: None,
            disqualified: None,
        }
    }

    /// An entry of this part that was handed in so many minutes after the contest opened.
    fn entry(rules: &ContestRules, minute: i64, part: u32, score: Option<i64>) -> Entry {
        Entry {
            number: minute.cast_unsigned(),
            contestant: 1,
            person: 1,
            part,
            received_unix_ms: rules.opens_unix_ms + minute * MINUTE,
            place: Place {
                official: true,
                counted: score.is_some(),
            },
            state: match score {
                Some(_) => EntryState::Judged,
                None => EntryState::Failed,
            },
            attempt: 1,
            file: String::new(),
            hash: String::new(),
            outcome: None,
            spec: None,
            score,
            trial_of: None,
        }
    }

    fn ask(
        rules: &ContestRules,
        before: &[Entry],
        part: u32,
        minute: i64,
    ) -> Result<Place, Refusal> {
        let now = rules.opens_unix_ms + minute * MINUTE;
        rules.place(&contestant(), before, part, 10, now)
    }

    #[test]
    fn ten_count_and_forty_are_taken() {
        let rules = rules();
        let mut before: Vec<Entry> = (0..9).map(|at| entry(&rules, at, 1, Some(0))).collect();
        assert!(ask(&rules, &before, 1, 100).unwrap().counted);
        // Those that did not build or start count for nothing of the ten.
        before.extend((9..39).map(|at| entry(&rules, at, 1, None)));
        assert!(ask(&rules, &before, 1, 100).unwrap().counted);
        before.push(entry(&rules, 39, 1, Some(0)));
        assert_eq!(ask(&rules, &before, 1, 100), Err(Refusal::NoneAtAll(40)));
        before.drain(..9);
        before.extend((40..49).map(|at| entry(&rules, at, 1, Some(0))));
        before.drain(..5);
        assert_eq!(ask(&rules, &before, 1, 100), Err(Refusal::NoneLeft(10)));
    }

    #[test]
    fn a_group_is_tried_once_before_the_one_below_is_passed() {
        let rules = rules();
        let mut before = vec![entry(&rules, 0, 1, Some(55))];
        assert!(ask(&rules, &before, 2, 10).is_ok());
        before.push(entry(&rules, 10, 2, None));
        // What did not start has not tried it.
        assert!(ask(&rules, &before, 2, 20).is_ok());
        before.push(entry(&rules, 20, 2, Some(0)));
        let refused = ask(&rules, &before, 2, 30).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "group 2 may be tried once as long as your best of group 1 is below 60; it is 55"
        );
        // What a frozen board does not tell, a refusal does not tell either.
        before.push(entry(&rules, 20 * 60, 1, Some(57)));
        let refused = ask(&rules, &before, 2, 20 * 60 + 10).unwrap_err();
        assert!(refused.to_string().ends_with("is below 60"), "{refused}");
        before.pop();
        before.push(entry(&rules, 30, 1, Some(60)));
        assert!(ask(&rules, &before, 2, 40).is_ok());
        assert_eq!(ask(&rules, &before, 6, 40), Err(Refusal::NoGroup(5)));
        assert_eq!(ask(&rules, &before, 0, 40), Err(Refusal::NoGroup(5)));
    }

    #[test]
    fn times_are_half_open() {
        let rules = rules();
        let day = 24 * 60;
        assert!(matches!(ask(&rules, &[], 1, -1), Err(Refusal::NotOpen(_))));
        let last = rules.closes_unix_ms - 1;
        let at = |contestant: &Contestant, now| rules.place(contestant, &[], 1, 10, now);
        assert!(at(&contestant(), last).unwrap().official);
        assert!(!at(&contestant(), last + 1).unwrap().official);
        let extended = Contestant {
            until_unix_ms: Some(last + MINUTE),
            ..contestant()
        };
        assert!(at(&extended, last + 1).unwrap().official);
        assert!(!at(&extended, last + MINUTE).unwrap().official);
        let out = Contestant {
            disqualified: Some("copied".to_owned()),
            ..contestant()
        };
        assert_eq!(
            at(&out, last),
            Err(Refusal::Disqualified("copied".to_owned()))
        );
        let phase = |minute: i64| rules.phase(rules.opens_unix_ms + minute * MINUTE, false);
        assert_eq!(phase(-1), Phase::Announced);
        assert_eq!(phase(0), Phase::Open);
        assert_eq!(phase(20 * 60), Phase::Frozen);
        assert_eq!(phase(day), Phase::Closed);
        assert_eq!(rules.phase(0, true), Phase::Published);
    }

    #[test]
    fn one_a_minute_also_when_the_clock_was_set_back() {
        let rules = rules();
        let before = [entry(&rules, 10, 1, Some(0))];
        assert!(ask(&rules, &before, 1, 11).is_ok());
        for minute in [10, 5] {
            let Err(Refusal::TooSoon { wait, .. }) = ask(&rules, &before, 1, minute) else {
                panic!("it was taken");
            };
            assert_eq!(wait, Duration::from_mins(1));
        }
    }

    #[test]
    fn the_best_or_the_last_counts_as_the_file_says() {
        let mut rules = rules();
        let entries = [
            entry(&rules, 0, 1, Some(40)),
            entry(&rules, 1, 1, Some(70)),
            entry(&rules, 2, 1, Some(70)),
            entry(&rules, 3, 1, Some(30)),
            entry(&rules, 4, 1, None),
        ];
        let number = |rules: &ContestRules| rules.counting(&entries, 1).unwrap().number;
        assert_eq!(number(&rules), 1);
        rules.counts = Counts::Last;
        assert_eq!(number(&rules), 3);
        assert!(rules.counting(&entries, 2).is_none());
    }
}
