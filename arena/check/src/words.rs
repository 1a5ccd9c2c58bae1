//! The words for what was seen of a bot, and for the figures of each stage, in English.

use std::{collections::BTreeMap, time::Duration};

use arena_events::check::{CheckStage, ReadyAnswer, SkipCause, StageFigure};
use arena_words::plural;
use referee::Health;
use referee_core::{Foul, Seat, shorten};

use crate::{
    AskedQuestion, Circumstance, Evidence, Finding, ObservedFoul, StageReport, UnknownServiceReply,
};

/// Largest part of a bot's own name that is shown, in letters.
const NAME: usize = 60;

/// The observed behaviour, which is not the expected one; `say` puts a foul into words.
#[must_use]
pub fn seen(finding: &Finding, say: fn(&Foul) -> String) -> String {
    match &finding.evidence {
        Evidence::Foul(foul) => observed(foul, say),
        Evidence::ReadyAfter { took, limit } => {
            format!("{} of {} until Ready", about(*took), about(*limit))
        }
        Evidence::NoReady => "it did not send Ready".to_owned(),
        Evidence::NoName => "`bot` is empty".to_owned(),
        Evidence::NoMaxGames => "`max_games` is not set, so 1 is assumed".to_owned(),
        Evidence::NoGame => "it answers UNIMPLEMENTED for every game".to_owned(),
        Evidence::Health {
            service,
            reply,
            limit,
        } => {
            let reply = match reply {
                Health::Serving => "SERVING".to_owned(),
                Health::Otherwise(what) => what.clone(),
                Health::Silent => no_answer(*limit),
            };
            format!("for \"{service}\": {reply}")
        }
        Evidence::ListedServices(services) => format!("it lists {}", services.join(", ")),
        Evidence::ReflectionFailed(why) => why.clone(),
        Evidence::UnknownService(UnknownServiceReply::Foul(foul)) => say(foul),
        Evidence::UnknownService(UnknownServiceReply::Answer) => "an answer".to_owned(),
        Evidence::UnknownService(UnknownServiceReply::Silent(limit)) => no_answer(*limit),
        Evidence::OpenStreams { open, of } => format!("{open} of {of} streams stayed open"),
        Evidence::SlowAnswer { thought, limit } => {
            format!("an answer after {} of {}", about(*thought), about(*limit))
        }
        Evidence::ShorterLimit { limit, thought } => format!(
            "with a limit of {} it took {}",
            about(*limit),
            about(*thought)
        ),
        Evidence::StillThinking { after, cores } => format!(
            "{} after the last stream was cancelled it uses, or waits for, {:.0} % of a core more \
             than before",
            about(*after),
            cores * 100.0
        ),
        Evidence::Growth { bytes, games } => format!(
            "{} more over {}, and still rising: {} a game",
            mib(*bytes),
            plural(*games as u64, "game"),
            kib(bytes / (*games).max(1) as u64)
        ),
        Evidence::StillRunning { limit } => {
            format!("it was still running {} after SIGTERM", about(*limit))
        }
        Evidence::LeftBehind(left) => {
            let left = left.iter().map(|one| {
                let outside = match one.outside_group {
                    true => ", outside its process group",
                    false => "",
                };
                format!("{} (process {}{outside})", one.command, one.id)
            });
            format!("left running: {}", left.collect::<Vec<_>>().join("; "))
        }
        Evidence::TooMuchOutput { limit, games } => {
            format!("more than {} in {}", mib(*limit), plural(*games, "game"))
        }
    }
}

fn observed(observed: &ObservedFoul, say: fn(&Foul) -> String) -> String {
    let mut foul = say(&observed.foul);
    if let Some(AskedQuestion { number, call }) = &observed.question {
        foul += &format!("; at question {number}");
        foul.extend(call.iter().map(|call| format!(", {call}")));
    }
    match &observed.circumstance {
        Circumstance::Usual => foul,
        Circumstance::Seat(seat) => format!("{foul}, {}", seated(*seat)),
        Circumstance::SecondGame(seat) => format!(
            "{foul}, {}; a new process plays the same game without a foul, and with one after a \
             game before it",
            seated(*seat)
        ),
        Circumstance::Beginnings(beginnings) => {
            let mut with = beginnings
                .iter()
                .map(|(name, seat)| format!("{name} ({})", seated(*seat)));
            let first = with.next().unwrap_or_default();
            let more: String = with.map(|one| format!("; also with {one}")).collect();
            format!("no foul from the usual beginning; with {first}: {foul}{more}")
        }
        Circumstance::Resumed { answers, seat } => format!(
            "resumed after {answers} of its own answers, {}: {foul}",
            seated(*seat)
        ),
        Circumstance::AtOnce { games, fouls } => format!(
            "with {games} games at once {}: {foul}",
            plural(*fouls as u64, "foul")
        ),
        Circumstance::AfterCancelled { streams } => {
            format!(
                "after {}: {foul}",
                plural(*streams as u64, "cancelled stream")
            )
        }
        Circumstance::DuringCancellation => format!("while streams were cancelled: {foul}"),
        Circumstance::AfterGame => format!("when a game was over: {foul}"),
    }
}

/// Findings of a stage, counted and measured, of a game with so many seats.
#[must_use]
pub fn stage(report: &StageReport, seats: u8) -> String {
    let outcome = &report.outcome;
    let figures = Figures(&outcome.figures);
    let names = outcome.findings.iter().map(|found| name(found.name));
    let names = names.collect::<Vec<_>>().join(", ");
    let words = match outcome.skipped {
        Some(cause) => skipped(cause, &figures, outcome.calls.as_ref()),
        None => done(report, &figures, seats),
    };
    match (&names[..], &words[..]) {
        ("", words) | (words, "") => words.to_owned(),
        _ => format!("{names}; {words}"),
    }
}

fn done(report: &StageReport, figures: &Figures<'_>, seats: u8) -> String {
    use StageFigure::*;
    let outcome = &report.outcome;
    let clean = outcome.findings.is_empty();
    match report.stage {
        CheckStage::Start => outcome.ready.as_ref().map_or_else(String::new, |said| {
            format!("{}; ready after {}", ready(said), figures.time(ReadyUs))
        }),
        CheckStage::Discovery if clean => {
            "health, reflection, and UNIMPLEMENTED for what it does not serve".to_owned()
        }
        CheckStage::WholeGames => {
            let mut words = format!("{} from {seats} seats", figures.counted(Games, "game"));
            if let Some(cut) = figures.number(CutGames) {
                words += &format!(", {cut} cut short after {}", figures.time(CutAfterUs));
            }
            if figures.number(MedianUs).is_some() {
                let [median, slowest] = [MedianUs, SlowestUs].map(|figure| figures.time(figure));
                words += &format!("; answers {median}, the slowest {slowest}");
            }
            words
        }
        CheckStage::FirstMoves if figures.number(Games).is_some() => {
            let games = figures.counted(Games, "game");
            let beginnings = figures.counted(Beginnings, "other beginning");
            let mut words = format!("{games} from {beginnings}");
            if let Some(refused) = figures.number(Refused) {
                words += &format!("; {refused} of them refused, as its SPEC says");
            }
            words
        }
        CheckStage::Calls => outcome.calls.as_ref().map_or_else(String::new, calls),
        CheckStage::Resumed if clean => {
            format!("{} resumed in the middle", figures.counted(Games, "game"))
        }
        CheckStage::NewFields if clean => {
            "unknown fields and an unknown notice are ignored".to_owned()
        }
        CheckStage::AtOnce if clean => {
            let [games, says] = [GamesAtOnce, MaxGames].map(|figure| figures.number(figure));
            match (games, says) {
                (Some(games), Some(says)) if says > games => {
                    format!("{games} games at once, of the {says} that it says it can play")
                }
                (games, _) => format!("{} games at once, as it says", games.unwrap_or(0)),
            }
        }
        CheckStage::Deadlines if figures.number(SlowestUs).is_some() => {
            let [slowest, limit] = [SlowestUs, LimitUs].map(|figure| figures.time(figure));
            let mut words = format!("the slowest answer took {slowest} of {limit}");
            if figures.number(ShortLimitUs).is_some() {
                let [short, took] =
                    [ShortLimitUs, UnderShortLimitUs].map(|figure| figures.time(figure));
                words += &format!("; with a limit of {short} it took {took}");
            }
            words
        }
        CheckStage::Cancelled if figures.number(Streams).is_some() => {
            let streams = figures.counted(Streams, "cancelled stream");
            format!("{streams}, and then another game")
        }
        CheckStage::Memory if figures.number(FirstBytes).is_some() => memory_held(figures),
        CheckStage::Memory if figures.number(Games).is_some() => {
            format!("a foul after {}", figures.counted(Games, "game"))
        }
        CheckStage::Stop if figures.number(EndedAfterUs).is_some() => {
            let nothing = match figures.or_zero(LeftProcesses) {
                0 => ", nothing left behind",
                _ => "",
            };
            format!(
                "ended {} after SIGTERM{nothing}",
                figures.time(EndedAfterUs)
            )
        }
        CheckStage::Output => {
            let most = kib(figures.or_zero(PrintedBytes));
            format!("at most {most} from one process")
        }
        _ => String::new(),
    }
}

/// The games of the stage `memory`, and the memory that was held after the first and the last.
fn memory_held(figures: &Figures<'_>) -> String {
    let held = [StageFigure::FirstBytes, StageFigure::LastBytes];
    let [first, last] = held.map(|figure| mib(figures.or_zero(figure)));
    let games = memory_games(figures);
    format!("{games}; {first} at first, {last} at last")
}

/// Reason why a stage was skipped.
fn skipped(
    cause: SkipCause,
    figures: &Figures<'_>,
    called: Option<&BTreeMap<String, u64>>,
) -> String {
    match cause {
        SkipCause::NotStartedByArena => "the arena did not start it".to_owned(),
        SkipCause::SlowInAnotherGame => "its Ready for another game came too late".to_owned(),
        SkipCause::NoOtherBeginnings => "the game names no other beginnings".to_owned(),
        SkipCause::CanNotResume => "it does not say can_resume".to_owned(),
        SkipCause::OneGameAtATime => "it plays one game at a time, as it says".to_owned(),
        SkipCause::AskedNothing => "it was asked nothing".to_owned(),
        SkipCause::NotRequested => "not requested".to_owned(),
        SkipCause::TooFewGames => format!(
            "{}: too few to tell growth from warming up",
            memory_games(figures)
        ),
        SkipCause::HeapNotCollected => format!(
            "{}: that may be garbage, which Java and .NET collect late; with a small heap \
             (java -Xmx64m) a leak shows as a foul",
            memory_held(figures)
        ),
        SkipCause::ProcessEnded => "it had ended by itself".to_owned(),
        SkipCause::CutShortByFoul => {
            let sent = called.map(sent).unwrap_or_default();
            format!("sent before the foul: {sent}")
        }
        SkipCause::FoulInWholeGame => "it must first play a whole game without a foul".to_owned(),
        SkipCause::BotGone => "it is gone, and the arena can't start it again".to_owned(),
    }
}

fn ready(said: &ReadyAnswer) -> String {
    let games = said.max_games.filter(|games| *games > 0);
    format!(
        "\"{}\" {}; {} at once; {}",
        shorten(&said.bot, NAME),
        shorten(&said.version, NAME),
        plural(games.unwrap_or(1), "game"),
        match said.can_resume {
            true => "can resume",
            false => "can't resume",
        },
    )
}

fn calls(called: &BTreeMap<String, u64>) -> String {
    let missing = called.iter().filter(|(_, times)| **times == 0);
    let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
    match &missing[..] {
        [] => sent(called),
        missing => format!("{}; never sent: {}", sent(called), missing.join(", ")),
    }
}

fn sent(called: &BTreeMap<String, u64>) -> String {
    let sent = called.iter().filter(|(_, times)| **times > 0);
    let sent = sent.map(|(name, times)| format!("{name} {times}"));
    sent.collect::<Vec<_>>().join(", ")
}

fn memory_games(figures: &Figures<'_>) -> String {
    let games = figures.counted(StageFigure::Games, "game");
    let wanted = figures.or_zero(StageFigure::WantedGames);
    if figures.or_zero(StageFigure::Games) < wanted {
        format!("{games} of {wanted}, as many as fitted into the time")
    } else {
        games
    }
}

/// The figures of a stage.
struct Figures<'a>(&'a BTreeMap<StageFigure, u64>);

impl Figures<'_> {
    fn number(&self, figure: StageFigure) -> Option<u64> {
        self.0.get(&figure).copied()
    }

    fn or_zero(&self, figure: StageFigure) -> u64 {
        self.number(figure).unwrap_or(0)
    }

    fn counted(&self, figure: StageFigure, what: &str) -> String {
        plural(self.or_zero(figure), what)
    }

    fn time(&self, figure: StageFigure) -> String {
        about(Duration::from_micros(self.or_zero(figure)))
    }
}

/// The name of a finding or a stage, as docs and events have it.
#[must_use]
pub fn name(name: impl serde::Serialize) -> String {
    let name = serde_json::to_value(name).expect("a name is written as JSON");
    name.as_str().unwrap_or_default().to_owned()
}

fn no_answer(limit: Duration) -> String {
    format!("no answer within {}", about(limit))
}

fn seated(seat: Seat) -> String {
    format!("in seat {seat}")
}

/// A length of time for people, in whole milliseconds or coarser.
fn about(time: Duration) -> String {
    let millis = time.as_millis() as u64;
    if millis < 10 {
        let tenths = (time.as_micros() as u64).div_ceil(100);
        return format!("{}.{}ms", tenths / 10, tenths % 10);
    }
    humantime::format_duration(Duration::from_millis(millis)).to_string()
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1_048_576.0)
}

fn kib(bytes: u64) -> String {
    format!("{:.1} KiB", bytes as f64 / 1024.0)
}
