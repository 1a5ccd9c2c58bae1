//! Stage `memory`: the bot's memory over many games.

use std::time::Instant;

use arena_events::check::{FindingName, SkipCause, StageFigure};
use referee::proc::{family_maps, memory_of_family};
use referee_core::Seat;
use tokio::task::spawn_blocking;

use crate::{
    error::Halt, evidence::Evidence, examiner::Examiner, game::PlayOptions, report::StageOutcome,
    subject::Subject,
};

/// Memory that grows by less over all games, or by less a game, is no finding; in bytes.
const GROWTH: u64 = 4 * 1024 * 1024;
const GROWTH_A_GAME: u64 = 2 * 1024;
/// From so many games on growth can be told from warming up.
const ENOUGH_GAMES: usize = 100;
/// So many are played even where they take longer than the time for this stage: how many fit
/// into it depends on who else uses the machine.
const LEAST_GAMES: usize = 2 * ENOUGH_GAMES;
/// After so many games it is known how long one takes.
const PACE_GAMES: usize = 10;
/// After so many times the time for this stage it ends, however many games were played.
const LONGEST: u32 = 6;
/// The libraries of runtimes that let memory grow, by hundreds of megabytes where there is so
/// much, before they collect garbage for the first time: Java's and .NET's.
const COLLECTS_LATE: &[&str] = &["libjvm.so", "libcoreclr.so"];
/// Number of blocks of games that are compared.
const BLOCKS: usize = 4;

pub(super) async fn memory(
    examiner: &mut Examiner<'_>,
    subject: &Subject,
    of: u32,
) -> Result<StageOutcome, Halt> {
    if !examiner.host.is_started_by_us() {
        return Ok(StageOutcome::skipped(SkipCause::NotStartedByArena));
    }
    let (patience, wanted) = (examiner.options.patience, examiner.options.games as usize);
    if examiner.options.quick || wanted == 0 {
        return Ok(StageOutcome::skipped(SkipCause::NotRequested));
    }
    let began = Instant::now();
    let share = patience / of.max(1);
    let (end, at_last) = (began + share, began + share * LONGEST);
    let least = LEAST_GAMES.min(wanted);
    let seats = usize::from(subject.kind.info().seats);
    let at_once = subject.max_games().min(4);
    // How many bytes it held after so many games.
    let mut held: Vec<(usize, u64)> = Vec::new();
    let mut games = 0;
    while games < wanted {
        // Where too few games fit into the time, none are waited for.
        let (now, pace) = (Instant::now(), began.elapsed() / games.max(1) as u32);
        // The first game may be slow because the bot has just started.
        let is_known = games >= PACE_GAMES || (games > 0 && now >= end);
        if is_known && pace * ENOUGH_GAMES as u32 > 2 * patience {
            break;
        }
        // What seems to grow may still be warming up: more games tell.
        let must_go_on = games < least || growth(&held).is_some();
        if now >= at_last || (now >= end && !must_go_on) {
            break;
        }
        let more = at_once.min(wanted - games);
        examiner.make_room(subject, more).await;
        let settings: Vec<_> = (games..games + more)
            .map(|game| examiner.setting(subject.kind, 0, Seat::new((game % seats) as u8)))
            .collect();
        let options = PlayOptions {
            leave_at: Some(if is_known { at_last } else { end }),
            hasty: subject.is_hasty(),
            ..PlayOptions::default()
        };
        let played = examiner.play_all(&settings, &options).await?;
        games += more;
        if let Some(id) = examiner.host.process() {
            held.push((games, spawn_blocking(move || memory_of_family(id)).await??));
        }
        for (setting, mut seen) in settings.iter().zip(played) {
            if let Some(foul) = examiner.foul_of(setting, &mut seen).await? {
                return Ok(StageOutcome::found([foul]).with(StageFigure::Games, games));
            }
        }
    }
    let mut outcome = StageOutcome {
        skipped: (games < ENOUGH_GAMES).then_some(SkipCause::TooFewGames),
        ..StageOutcome::default()
    };
    if outcome.skipped.is_none()
        && let (Some((_, first)), Some((_, last))) = (held.first(), held.last())
    {
        let bytes = [
            (StageFigure::FirstBytes, *first),
            (StageFigure::LastBytes, *last),
        ];
        outcome.figures.extend(bytes);
        let process = examiner.host.process();
        if let (Some((bytes, games)), Some(id)) = (growth(&held), process) {
            // Garbage that is not collected yet looks like memory that is never freed.
            match spawn_blocking(move || family_maps(id, COLLECTS_LATE)).await?? {
                true => outcome.skipped = Some(SkipCause::HeapNotCollected),
                false => {
                    let growth = Evidence::Growth { bytes, games };
                    let finding = subject.finding(FindingName::MemoryGrows, growth);
                    outcome.findings.push(finding);
                }
            }
        }
    }
    Ok(outcome
        .with(StageFigure::Games, games)
        .with(StageFigure::WantedGames, wanted))
}

/// By how many bytes memory has grown and over how many games, where it has grown
/// steadily: the first quarter of the games is left out as warming up; what follows
/// is cut into blocks, and the least that was held in a block must rise from each
/// block to the next.
fn growth(held: &[(usize, u64)]) -> Option<(u64, usize)> {
    let warm = &held[held.len() / 4..];
    let (begins, ends) = (warm.first()?.0, warm.last()?.0);
    let block = warm.len() / BLOCKS;
    if block == 0 {
        return None;
    }
    let least: Vec<u64> = warm
        .chunks_exact(block)
        .take(BLOCKS)
        .filter_map(|block| block.iter().map(|(_, bytes)| *bytes).min())
        .collect();
    let grown = least.last()?.checked_sub(*least.first()?)?;
    // From the first block to the last: of so many games one block is missing.
    let over = (ends - begins) * (BLOCKS - 1) / BLOCKS;
    let steady = least
        .windows(2)
        .all(|pair| pair[1] > pair[0] && pair[1] - pair[0] > grown / (4 * BLOCKS as u64));
    let much = grown > GROWTH && grown > GROWTH_A_GAME * over as u64;
    (steady && much && over > 0).then_some((grown, over))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(of: impl Fn(u64) -> u64) -> Vec<(usize, u64)> {
        (1..=400).map(|game| (game as usize, of(game))).collect()
    }

    #[test]
    fn memory_that_rises_to_the_end_grows() {
        let (grown, over) = growth(&held(|game| 64 * 1024 * game)).unwrap();
        assert_eq!(grown / over as u64 / 1024, 64);
        // With what comes and goes on top of it.
        assert!(growth(&held(|game| 64 * 1024 * game + game % 7 * 3_000_000)).is_some());
    }

    #[test]
    fn memory_that_has_warmed_up_does_not() {
        let mib = 1024 * 1024;
        assert_eq!(growth(&held(|_| 50 * mib)), None);
        assert_eq!(growth(&held(|game| game.min(90) * mib)), None);
        assert_eq!(
            growth(&held(|game| if game < 250 { 5 } else { 60 } * mib)),
            None
        );
        assert_eq!(growth(&held(|game| game % 50 * mib)), None);
        // Less than a page a game.
        assert_eq!(growth(&held(|game| game * 1024)), None);
        assert_eq!(growth(&[]), None);
    }
}
