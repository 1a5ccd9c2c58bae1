//! Games, schedules and dates of tournaments in words.

use std::{
    collections::BTreeMap,
    io::Write,
    time::{Duration, SystemTime},
};

use arena_ladder::{
    Entrant, Schedule,
    schedule::{Match, Participant},
};
use arena_store::{GameFilter, GameRow, Store, Tournament, TournamentState};
use referee_core::Record;
use serde_json::json;

use crate::{report, tally::moves};

/// So many games are written with one question to the store.
const PAGE: u32 = 1000;
/// So many matches of a round are shown.
const SHOWN: usize = 64;

/// A game that has been played, for programs.
pub(crate) fn game_event(game: &GameRow, names: &[String]) -> serde_json::Value {
    let by_seat = |place: &usize| name(game.lineup[*place], names);
    json!({
        "type": "game",
        "group": game.group,
        "seating": game.seating,
        "match": game.matchup,
        "players": game.order.iter().map(by_seat).collect::<Vec<_>>(),
        "places": game.places,
        "scores": game.scores,
        "reason": game.reason,
        "fouls": game.fouls,
        "plies": game.plies,
        "thought_us": game.thought_us,
        "play_hash": game.play_hash,
    })
}

fn name(who: Option<Entrant>, names: &[String]) -> Option<&str> {
    who.map(|who| names[who.index()].as_str())
}

/// Rounds and matches: who has played, who will, as far as it is known.
pub(crate) fn schedule(schedule: &dyn Schedule, names: &[String]) -> anyhow::Result<()> {
    for round in schedule.rounds() {
        let begun = round.matches.len();
        report::text(&format!("\n{}\n", round.name))?;
        for one in round.matches.iter().take(SHOWN) {
            let line = format!("  {}", match_line(one, names));
            report::text(&format!("{}\n", report::wrapped(&line)))?;
        }
        if begun > SHOWN {
            report::text(&format!("  and {} more matches\n", begun - SHOWN))?;
        }
    }
    Ok(())
}

fn match_line(one: &Match, names: &[String]) -> String {
    let players: Vec<String> = one
        .players
        .iter()
        .map(|player| match player {
            Participant::Entrant(who) => report::shorten(&names[who.index()], report::LONGEST_NAME),
            Participant::Filler => "(filler)".to_owned(),
            Participant::Bye => "(bye)".to_owned(),
            Participant::Pending(from) => format!("({from})"),
        })
        .collect();
    let deals = match (one.over, one.groups) {
        _ if one.players.contains(&Participant::Bye) => String::new(),
        (true, 0) => ", not played".to_owned(),
        (false, 0) => format!(", up to {} deals", one.most),
        (over, groups) => {
            let points: Vec<String> = one
                .points
                .iter()
                .map(|half| half.points().to_string())
                .collect();
            let so_far = if over { "" } else { " so far" };
            format!(", {} after {groups} deals{so_far}", points.join(" : "))
        }
    };
    format!("{} {}{deals}", one.id.0, players.join(" - "))
}

/// The moves of every game, one game a line, under one that begins with # and
/// says which game it is.
pub(crate) async fn export_moves(
    store: &Store,
    tournament: &Tournament,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let kind = crate::verbs::find_game(&tournament.game)?;
    // The plays of a deal that is still to be played from other seats are nobody's.
    let half = match tournament.state {
        TournamentState::Over => BTreeMap::new(),
        _ => store.incomplete_groups(tournament.id).await?,
    };
    let mut filter = GameFilter::default();
    loop {
        let page = store.games(tournament.id, &filter, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        filter.after = Some((last.group, last.seating));
        for game in page {
            if half.contains_key(&game.group) {
                continue;
            }
            let Some(record) = store
                .record(tournament.id, game.group, game.seating)
                .await?
            else {
                continue;
            };
            let record = Record::parse(&record)?;
            let header = &record.header;
            let notations: Vec<&str> = moves(&record).map(|(_, notation, _)| notation).collect();
            writeln!(
                out,
                "# {}: {}, {}",
                header.game_id,
                header.players.as_slice().join(" - "),
                game.reason
            )?;
            writeln!(out, "{}", kind.transcript(&header.setup, &notations)?)?;
        }
    }
}

/// A moment as people write it, to the minute.
pub(crate) fn date(unix_ms: i64) -> String {
    // No calendar goes further.
    const LAST: i64 = 253_402_300_799_000;
    let since = Duration::from_millis(unix_ms.clamp(0, LAST) as u64);
    let text = humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + since).to_string();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}
