//! `arena check-referee`: every villain against an honest bot, and whether the
//! referee answers as it should.

mod ours;
mod remote;

use std::time::Duration;

use clap::Args;
use futures_util::{StreamExt as _, stream};
use referee_core::{FoulKind, Record, Seat};
use serde_json::json;
use villains::Kind;

use self::{ours::Ours, remote::Remote};
use super::Format;
use crate::{End, classic, report, stop::Stop, tally::plural, usage};

/// Plays every bot that misbehaves against an honest one, from either seat, and
/// shows what the referee makes of it. Exit code 1 where it is not what it
/// should be.
#[derive(Args)]
pub(crate) struct CheckReferee {
    /// Only this kind, once for each; `arena villain --help` has them all
    /// [default: all].
    #[arg(
        long = "kind",
        value_name = "KIND",
        value_enum,
        hide_possible_values = true
    )]
    kinds: Vec<Kind>,
    /// Not the referee in this program, but one that runs as `referee serve`.
    #[arg(long, value_name = "HOST:PORT")]
    referee: Option<String>,
    /// What that referee knows this machine by: where it finds the villains.
    #[arg(long, default_value = "127.0.0.1", requires = "referee")]
    host: String,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The seats that a villain is tried in.
const SEATS: [Seat; 2] = [Seat::new(0), Seat::new(1)];
/// The same deals every time.
const SEED: [u8; 32] = [7; 32];
/// How many villains are tried at once: most of them only wait.
const AT_ONCE: usize = 8;
/// How long the honest bot has until it listens.
const AMPLE: Duration = Duration::from_secs(30);

/// What is said of a game that counts for nobody.
const VOID: &str = "void";

/// Who judges.
enum Judge {
    Ours(Ours),
    Remote(Box<Remote>),
}

/// What the referee made of a villain.
struct Found {
    kind: Kind,
    seats: [Answer; 2],
}

/// What the referee made of it in one seat.
struct Answer {
    foul: Option<FoulKind>,
    /// The foul with its evidence, or how the game ended.
    words: String,
    /// The honest bot's foul: there should be none.
    unjust: Option<String>,
}

impl CheckReferee {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let kinds = self.kinds()?;
        let stop = Stop::on_signals(None)?;
        let judge = match &self.referee {
            None => Judge::Ours(Ours::new(&kinds)?),
            Some(referee) => Judge::Remote(Box::new(Remote::connect(referee, &self.host).await?)),
        };
        let outcome = self.try_all(&kinds, &judge, &stop).await;
        match judge {
            Judge::Ours(ours) => ours.stop().await,
            Judge::Remote(remote) => remote.stop().await,
        }
        outcome
    }

    /// Those that are asked for; a referee that starts no bot knows nothing of how
    /// one starts.
    fn kinds(&self) -> anyhow::Result<Vec<Kind>> {
        let all = self.kinds.is_empty();
        let asked = |kind: &Kind| all || self.kinds.contains(kind);
        let mut kinds = Kind::all().to_vec();
        kinds.retain(asked);
        if self.referee.is_none() {
            return Ok(kinds);
        }
        if !all && let Some(kind) = kinds.iter().find(|kind| kind.is_for_the_starter()) {
            return usage(format!(
                "--kind {}: only who starts a bot can tell; leave out --referee",
                kind.name()
            ));
        }
        kinds.retain(|kind| !kind.is_for_the_starter());
        Ok(kinds)
    }

    /// Shows each in order, as soon as those before it are known.
    async fn try_all(&self, kinds: &[Kind], judge: &Judge, stop: &Stop) -> anyhow::Result<End> {
        let found = stream::iter(kinds)
            .take_until(stop.asked())
            .map(|&kind| judge.try_one(kind))
            .buffered(AT_ONCE);
        let mut found = Box::pin(found);
        let mut known = 0;
        let mut wrong = Vec::new();
        if self.format == Format::Text {
            report::heading(&line("", "villain", "expected", "answered", "code"))?;
        }
        loop {
            let next = tokio::select! {
                next = found.next() => next,
                // Dropping the games cuts them off.
                () = stop.cut_off() => None,
            };
            let Some(next) = next else { break };
            let next = next?;
            known += 1;
            if !next.holds() {
                wrong.push(next.kind.name());
            }
            match self.format {
                Format::Text => report::text(&next.text())?,
                Format::Json => report::event(&next.event())?,
            }
        }
        if known < kinds.len() {
            self.stopped(known, kinds.len(), &wrong)?;
            return Ok(End::Interrupted);
        }
        self.close(known, &wrong)?;
        Ok(if wrong.is_empty() { End::Done } else { End::No })
    }

    /// Says how far it came, which is no verdict.
    fn stopped(&self, known: usize, of: usize, wrong: &[String]) -> anyhow::Result<()> {
        if self.format == Format::Json {
            return Ok(());
        }
        let mut words = format!(
            "stopped before the end: {known} of {}",
            plural(of as u32, "villain")
        );
        if !wrong.is_empty() {
            words += &format!("; not answered as expected: {}", wrong.join(", "));
        }
        report::text(&format!("\n{}\n", report::wrapped(&words)))
    }

    /// Sums up.
    fn close(&self, known: usize, wrong: &[String]) -> anyhow::Result<()> {
        if self.format == Format::Json {
            return report::event(&json!({
                "type": "summary", "villains": known, "holds": wrong.is_empty(), "wrong": wrong,
            }));
        }
        let known = plural(known as u32, "villain");
        let words = if wrong.is_empty() {
            format!("{known}, each from either seat: answered as expected")
        } else {
            format!("{known}, not answered as expected: {}", wrong.join(", "))
        };
        report::text(&format!("\n{}\n", report::wrapped(&words)))?;
        if self.referee.is_some() && self.kinds.is_empty() {
            let left = Kind::all().iter().filter(|kind| kind.is_for_the_starter());
            let left: Vec<_> = left.map(|kind| kind.name()).collect();
            report::text(&format!(
                "{}\n",
                report::wrapped(&format!(
                    "not tried, since only who starts a bot can tell: {}",
                    left.join(", ")
                ))
            ))?;
        }
        Ok(())
    }
}

impl Judge {
    /// In both seats at once.
    async fn try_one(&self, kind: Kind) -> anyhow::Result<Found> {
        let [first, second] = SEATS.map(|seat| self.try_in(kind, seat));
        let (first, second) = tokio::try_join!(first, second)?;
        Ok(Found {
            kind,
            seats: [first, second],
        })
    }

    async fn try_in(&self, kind: Kind, seat: Seat) -> anyhow::Result<Answer> {
        let game_id = format!("check-referee-{}-{seat}", kind.name());
        let record = match self {
            Self::Ours(ours) => ours.play(kind, seat, game_id).await?,
            Self::Remote(remote) => remote.play(kind, seat, game_id).await?,
        };
        Ok(Answer::new(&record, seat))
    }
}

impl Answer {
    fn new(record: &Record, seat: Seat) -> Self {
        let verdict = &record.result.verdict;
        let foul = verdict.foul(seat);
        let words = match (foul, verdict.outcome()) {
            (Some(foul), _) => foul.to_string(),
            (None, Some(outcome)) => format!("played to its end: {}", outcome.reason),
            (None, None) => VOID.to_owned(),
        };
        Self {
            foul: foul.map(|foul| foul.kind()),
            words,
            unjust: verdict.foul(seat.other()).map(ToString::to_string),
        }
    }

    /// Whether it is what it should be.
    fn holds(&self, expected: Option<FoulKind>) -> bool {
        self.foul == expected && self.unjust.is_none() && self.words != VOID
    }

    /// The code of the classic report, where there is a foul.
    fn code(&self, seat: Seat) -> Option<i32> {
        let seat = i32::try_from(seat.index()).ok()?;
        Some(classic::foul_code(self.foul?, seat))
    }
}

impl Found {
    fn holds(&self) -> bool {
        let expected = self.kind.foul();
        self.seats.iter().all(|answer| answer.holds(expected))
    }

    /// A line, and below it what the villain does and what the referee says of it.
    fn text(&self) -> String {
        let [first, second] = &self.seats;
        let both = |first: String, second: String| {
            if first == second {
                first
            } else {
                format!("{first}, {second}")
            }
        };
        let code = |seat: Seat| match self.seats[seat.index()].code(seat) {
            Some(code) => code.to_string(),
            None => "-".to_owned(),
        };
        let mut text = line(
            if self.holds() { "ok" } else { "NO" },
            &self.kind.name(),
            words(self.kind.foul()),
            &both(words(first.foul).to_owned(), words(second.foul).to_owned()),
            &both(code(SEATS[0]), code(SEATS[1])),
        );
        let mut more = vec![self.kind.does(), first.words.clone()];
        // The evidence from the other seat is mostly the same.
        if !self.holds() || first.foul != second.foul {
            more.push(second.words.clone());
        }
        for (seat, answer) in SEATS.iter().zip(&self.seats) {
            if let Some(unjust) = &answer.unjust {
                more.push(format!("the honest bot in seat {}: {unjust}", seat.other()));
            }
        }
        for more in more {
            let one_line = more.split_whitespace().collect::<Vec<_>>().join(" ");
            text.push('\n');
            text.push_str(&report::wrapped(&format!("     {one_line}")));
        }
        text.push('\n');
        text
    }

    fn event(&self) -> serde_json::Value {
        let seats = SEATS.iter().zip(&self.seats).map(|(&seat, answer)| {
            json!({
                "seat": seat.index(),
                "foul": answer.foul,
                "code": answer.code(seat),
                "evidence": answer.words,
                "honest_foul": answer.unjust,
            })
        });
        json!({
            "type": "villain",
            "kind": self.kind.name(),
            "does": self.kind.does(),
            "expected": self.kind.foul(),
            "seats": seats.collect::<Vec<_>>(),
            "holds": self.holds(),
        })
    }
}

const fn words(foul: Option<FoulKind>) -> &'static str {
    match foul {
        Some(foul) => foul.words(),
        None => "no foul",
    }
}

fn line(ok: &str, villain: &str, expected: &str, answered: &str, code: &str) -> String {
    let line = format!("{ok:<2} {villain:<21} {expected:<14} {answered:<29} {code}");
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(foul: Option<FoulKind>) -> Answer {
        Answer {
            foul,
            words: "what it said".to_owned(),
            unjust: None,
        }
    }

    fn found(kind: Kind, seats: [Option<FoulKind>; 2]) -> Found {
        Found {
            kind,
            seats: seats.map(answer),
        }
    }

    #[test]
    fn both_seats_must_be_answered_as_expected() {
        let late = Some(FoulKind::Late);
        let crashed = Some(FoulKind::Crashed);
        assert!(found(Kind::Late, [late, late]).holds());
        assert!(found(Kind::Honest, [None, None]).holds());
        for wrong in [[late, crashed], [crashed, late], [None, late], [late, None]] {
            assert!(!found(Kind::Late, wrong).holds(), "{wrong:?}");
        }
        assert!(!found(Kind::Honest, [None, late]).holds());
    }

    #[test]
    fn a_foul_of_the_honest_bot_and_a_void_game_are_wrong() {
        let mut honest = found(Kind::Honest, [None, None]);
        honest.seats[1].unjust = Some("no answer within 3s".to_owned());
        assert!(!honest.holds());
        let shown = honest.text();
        assert!(shown.starts_with("NO honest "), "{shown}");
        let says = "     the honest bot in seat 0: no answer within 3s\n";
        assert!(shown.contains(says), "{shown}");
        let mut void = found(Kind::Honest, [None, None]);
        void.seats[0].words = VOID.to_owned();
        assert!(!void.holds());
    }

    #[test]
    fn what_is_not_as_expected_is_shown_from_either_seat() {
        let seats = [Some(FoulKind::Late), Some(FoulKind::Crashed)];
        let mut shown = found(Kind::Crash, seats);
        shown.seats[1].words = "crashed:\nand how".to_owned();
        assert_eq!(
            shown.text(),
            "NO crash                 crashed        late, crashed                 7, 5
     Aborts.
     what it said
     crashed: and how\n"
        );
        let event = shown.event();
        assert_eq!(event["holds"], false);
        assert_eq!(event["expected"], "crashed");
        assert_eq!(event["seats"][0]["code"], 7);
    }
}
