//! A run as it stands, in words and tables for people.

use std::time::{Duration, SystemTime};

use arena_events::standings::MissingEstimate;
use arena_ladder::{
    Schedule,
    elo::Estimate,
    schedule::{Match, Participant, Ranked, SetAside, TieBreak},
    sprt::Decision,
    standings::{EntrantRow, Meeting},
};
use arena_tournament::{AwayBot, Snapshot, TestProgress, Warning, events};
use arena_words::{figures, warning};
use owo_colors::OwoColorize as _;
use referee_core::{FoulWords, Language, shorten};
use referee_worker::Buckets;

use crate::report::{self, line, plural, table_lines, text, time, wrapped};

/// So many pairs are shown; all of them are in the JSON.
const PAIRS: usize = 28;
/// So many matches of a round are shown.
const MATCHES: usize = 64;

/// The standings, and what belongs to them.
#[must_use]
pub fn standings(snapshot: &Snapshot) -> String {
    let parts = [table, duel, pairs, thinking, notes];
    parts.map(|part| part(snapshot)).concat()
}

fn table(snapshot: &Snapshot) -> String {
    // Many games make wide columns: names get shorter, then tie-breaks are left out,
    // of which the JSON has all.
    let mut lines = lines(snapshot, report::LONGEST_NAME, 2);
    for (longest, ties) in [(12, 2), (8, 2), (8, 1), (8, 0)] {
        if (lines.iter()).any(|line| line.chars().count() > report::WIDTH) {
            lines = self::lines(snapshot, longest, ties);
        }
    }
    if let Some(header) = lines.first_mut() {
        *header = header.bold().to_string();
    }
    if snapshot.standings.games == 0 {
        lines.push("no deal has been played from every seating yet".to_owned());
    }
    lines.join("\n") + "\n"
}

fn lines(snapshot: &Snapshot, longest: usize, ties: usize) -> Vec<String> {
    let four = snapshot.standings.seats > 2;
    let scored = shows_margins(snapshot);
    let paid = !snapshot.purses.is_empty();
    let first = snapshot.ranking.iter().flatten().next();
    let ties: Vec<TieBreak> = first
        .map(|first| first.ties.iter().map(|(tie, _)| *tie).take(ties).collect())
        .unwrap_or_default();
    let mut header = vec!["#", "bot"];
    if snapshot.ranking.is_some() {
        header.push("pts");
        header.extend(ties.iter().map(|tie| short(*tie)));
    }
    header.extend(["games", "points"]);
    header.extend(match four {
        true => ["place", "1-2-3-4"],
        false => ["score", "W-D-L"],
    });
    header.push("Elo ± 95 %");
    if paid {
        header.push("purse");
    } else if scored {
        header.push("margin");
    }
    let mut rows = Vec::new();
    for (rank, ranked, row) in ordered(snapshot) {
        let mut cells = vec![rank, shorten(snapshot.name(row.entrant), longest)];
        if snapshot.ranking.is_some() {
            cells.push(ranked.map_or_else(dash, |one| number(one.points)));
            for tie in &ties {
                let value = ranked.and_then(|one| one.ties.iter().find(|(what, _)| what == tie));
                cells.push(value.map_or_else(dash, |(_, value)| number(*value)));
            }
        }
        cells.push(row.games.to_string());
        cells.push(number(row.points.points()));
        if four {
            let place = row.mean_place;
            cells.push(place.map_or_else(dash, |place| format!("{place:.2}")));
            let places: Vec<String> = row.places.iter().map(u64::to_string).collect();
            cells.push(places.join("-"));
        } else {
            let score = row.score;
            cells.push(score.map_or_else(dash, |score| format!("{:.1}%", 100.0 * score)));
            cells.push(format!("{}-{}-{}", row.wins, row.draws, row.losses));
        }
        cells.push(row.rating.map_or_else(dash, |elo| estimate(elo, 0)));
        if paid {
            let purse = snapshot.purses.get(&row.entrant);
            cells.push(purse.map_or_else(dash, i64::to_string));
        } else if scored {
            cells.push(row.margin.map_or_else(dash, |margin| estimate(margin, 1)));
        }
        rows.push(cells);
    }
    table_lines(&header, rows, |column| column != 1)
}

/// True if the table has a column of margins: where scores say more than places, and are not paid.
fn shows_margins(snapshot: &Snapshot) -> bool {
    // Places alone give two points more than the others at most.
    let most = match snapshot.kind.info().score_is_lead {
        true => 0.0,
        false => 2.0,
    };
    let mut margins = snapshot.standings.rows.iter().filter_map(|row| row.margin);
    snapshot.purses.is_empty() && margins.any(|margin| margin.value.abs() > most)
}

/// The rows in the order of the schedule's ranking, or of their own.
fn ordered(snapshot: &Snapshot) -> Vec<(String, Option<&Ranked>, &EntrantRow)> {
    let rows = &snapshot.standings.rows;
    match &snapshot.ranking {
        None => rows
            .iter()
            .map(|row| {
                let rank = row.rank.map_or_else(dash, |rank| rank.to_string());
                (rank, None, row)
            })
            .collect(),
        Some(ranking) => ranking
            .iter()
            .filter_map(|ranked| {
                let row = rows.iter().find(|row| row.entrant == ranked.entrant)?;
                Some((ranked.place.to_string(), Some(ranked), row))
            })
            .collect(),
    }
}

/// What a match of two says about their strengths.
fn duel(snapshot: &Snapshot) -> String {
    let Some(pair) = snapshot.standings.duel() else {
        return String::new();
    };
    format!("\n{}\n", duel_lines(snapshot, pair).join("\n"))
}

/// The pairs that have a table of their own.
fn table_of_pairs(snapshot: &Snapshot) -> &[Meeting] {
    let pairs = &snapshot.standings.pairs;
    match snapshot.standings.duel().is_some() || pairs.len() > PAIRS {
        true => &[],
        false => pairs,
    }
}

/// The name of a pair's row.
fn pair_name(snapshot: &Snapshot, pair: &Meeting) -> String {
    let names = [pair.first, pair.second].map(|who| shorten(snapshot.name(who), 14));
    names.join(" - ")
}

/// Everybody against everybody.
fn pairs(snapshot: &Snapshot) -> String {
    let pairs = table_of_pairs(snapshot);
    if pairs.is_empty() {
        return String::new();
    }
    let tested = snapshot.tests.iter().any(Option::is_some);
    let mut header = vec!["", "W-D-L", "score", "Elo ± 95 %"];
    if tested {
        header.push("test");
    }
    let mut rows = Vec::new();
    for (pair, test) in pairs.iter().zip(&snapshot.tests) {
        let elo = pair.comparison.and_then(|compared| compared.elo.ok());
        let score = pair.comparison.map(|comparison| comparison.score);
        let mut cells = vec![
            pair_name(snapshot, pair),
            format!("{}-{}-{}", pair.wins, pair.draws, pair.losses),
            score.map_or_else(dash, |score| format!("{:.1}%", 100.0 * score)),
            elo.map_or_else(dash, |elo| estimate(elo, 0)),
        ];
        if tested {
            cells.push(test.as_ref().map_or_else(dash, |test| match test.decision {
                None => format!("LLR {:.2}", test.llr),
                Some(decision) => format!("LLR {:.2}, {}", test.llr, word(decision)),
            }));
        }
        rows.push(cells);
    }
    let lines = table_lines(&header, rows, |column| (1..4).contains(&column));
    format!("\n{}\n", lines.join("\n"))
}

/// The bots' thinking times, and their fouls.
fn thinking(snapshot: &Snapshot) -> String {
    let mut said = String::new();
    let mut rows = Vec::new();
    let mut fouls = Vec::new();
    for (_, _, row) in ordered(snapshot) {
        let figures = &snapshot.figures.bots[row.entrant.index()];
        let name = snapshot.name(row.entrant);
        if figures.thinking.count() > 0 {
            let mut cells = vec![shorten(name, report::LONGEST_NAME)];
            cells.extend(quantiles(&figures.thinking));
            rows.push(cells);
        }
        let kinds = figures.fouls.iter();
        let kinds: Vec<String> = kinds
            .map(|(kind, count)| format!("{} {count}", kind.words()))
            .collect();
        if !kinds.is_empty() {
            fouls.push(format!("{name}: {}", kinds.join(", ")));
        }
    }
    if !rows.is_empty() {
        let limit = snapshot.definition.limits.per_move;
        let lines = table_lines(&["", "median", "p99", "max"], rows, |column| column > 0);
        let lines = lines.join("\n");
        said += &format!("\nthinking time a move, of {limit:?}\n{lines}\n");
    }
    if !fouls.is_empty() {
        let fouls = wrapped(&format!("fouls: {}", fouls.join("; ")));
        said += &format!("\n{fouls}\n");
    }
    said
}

/// What does not count, and the remarks of the schedule.
fn notes(snapshot: &Snapshot) -> String {
    let count = snapshot.count;
    let mut notes = Vec::new();
    let without = figures::without_error_bars(&error_bars(snapshot), Language::En);
    notes.extend(
        without
            .into_iter()
            .map(|(why, line)| line + &advice(why, snapshot)),
    );
    if snapshot.schedule.is_none() {
        notes.push(
            "what the schedule leaves to chance is known only at the end, so all complete deals \
             are counted, also those that were excluded"
                .to_owned(),
        );
    }
    let (half_played, games) = snapshot.half_played;
    if half_played > 0 {
        let (these, do_not) = match half_played {
            1 => ("deal has", "does not"),
            _ => ("deals have", "do not"),
        };
        notes.push(format!(
            "{} {these} not been played from every seating and {do_not} count ({})",
            half_played,
            plural(games, "game")
        ));
    }
    if count.excluded_groups > 0 {
        notes.push(format!(
            "excluded: {}, started before the match was decided or a player was set aside",
            plural(count.excluded_groups, "deal"),
        ));
    }
    let schedule = snapshot.schedule.iter();
    let remarks = schedule.flat_map(|schedule| schedule.remarks());
    notes.extend(remarks.map(|remark| remark.words(|who| snapshot.name(who))));
    let notes = notes.iter().map(|note| wrapped(note) + "\n");
    let notes: String = notes.collect();
    match notes.is_empty() {
        true => notes,
        false => format!("\n{notes}"),
    }
}

/// Prints the warnings, on standard error. `first_game` says where the first foul of a bot lies.
pub fn warnings(snapshot: &Snapshot, first_game: impl Fn(&arena_store::FirstFoul) -> String) {
    for aside in &snapshot.set_aside {
        report::warning(&set_aside(snapshot.name(aside.entrant), aside));
    }
    for found in &snapshot.warnings {
        report::warning(&match found {
            Warning::Fouls {
                count,
                games,
                first,
            } => {
                let name = snapshot.name(first.entrant);
                let words = warning::fouls(name, *count, *games, Language::En);
                let foul = FoulWords::of(&first.foul).sentence;
                format!("{words}{}: {foul}", first_game(first))
            }
            Warning::RepeatedGames { games, distinct } => {
                warning::repeated_games(*games, *distinct, Language::En)
            }
            Warning::RefereeDelay { excused } => {
                let excused = excused.iter();
                let excused: Vec<_> = excused
                    .map(|(bot, answers)| (snapshot.name(*bot), *answers))
                    .collect();
                warning::late_referee(&excused, Language::En)
            }
            Warning::UnequalSeats { bots } => {
                let bots = bots.iter();
                let bots: Vec<_> = bots
                    .map(|(bot, seats)| (snapshot.name(*bot), &seats[..]))
                    .collect();
                warning::unequal_seats(&bots, Language::En)
            }
        });
    }
}

/// Reason why a bot takes no further part.
pub fn set_aside(name: &str, aside: &SetAside) -> String {
    let annulled = match aside.annulled {
        true => "; its games do not count",
        false => "",
    };
    format!("{name} is set aside: {}{annulled}", aside.why)
}

/// The words for a bot at whose address nothing answers.
pub fn away(name: &str, away: &AwayBot) -> String {
    format!(
        "{name} is away ({}): its games wait for it, at most {}",
        away.why,
        whole_seconds(away.left)
    )
}

/// A length of time in whole seconds, as in `1m 30s`.
pub fn whole_seconds(time: Duration) -> String {
    let seconds = (time.as_secs_f64().ceil() as u64).max(1);
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// Prints the counts beside the results.
pub fn figures(snapshot: &Snapshot) -> anyhow::Result<()> {
    let figures = &snapshot.figures;
    let ended = figures.ended.iter();
    let ended: Vec<String> = ended
        .map(|(how, games)| format!("{} {games}", how.to_string().replace('-', " ")))
        .collect();
    if !ended.is_empty() {
        text("\n")?;
        line(&format!("games ended by: {}", ended.join(", ")))?;
    }
    let all: u64 = figures.seats.values().sum();
    if all > 0 {
        let share = |half: &u64| format!("{:.1}%", 100.0 * *half as f64 / all as f64);
        let seats: Vec<String> = figures.seats.values().map(share).collect();
        text(&format!("points by seat: {}\n", seats.join(", ")))?;
    }
    for (what, buckets) in [
        ("work waited for a worker", &figures.queue),
        ("a commit of the store took", &figures.commit),
        ("the referee's worst delay in a second", &figures.late),
    ] {
        if buckets.count() > 0 {
            let [median, p99, max] = quantiles(buckets);
            text(&format!("{what}: median {median}, p99 {p99}, max {max}\n"))?;
        }
    }
    Ok(())
}

/// Elo, normalised Elo, likelihood of superiority, pairs and test of two.
fn duel_lines(snapshot: &Snapshot, pair: &Meeting) -> Vec<String> {
    let [first, second] = [pair.first, pair.second].map(|who| snapshot.name(who));
    let test: Option<TestProgress> = snapshot.tests.first().copied().flatten();
    let Some(comparison) = pair.comparison else {
        return vec![wrapped(&format!(
            "{first} against {second}: no complete deal"
        ))];
    };
    let error = comparison.score_error;
    let mut lines = vec![wrapped(&format!(
        "{first} against {second}: {}-{}-{}, {:.1} ± {} % of {}",
        pair.wins,
        pair.draws,
        pair.losses,
        100.0 * comparison.score,
        error.map_or_else(|_| "?".to_owned(), |error| format!("{:.1}", 100.0 * error)),
        plural(pair.wins + pair.draws + pair.losses, "game"),
    ))];
    match (comparison.elo, comparison.nelo) {
        (Ok(elo), Ok(nelo)) => {
            let los = comparison.los;
            lines.push(format!(
                "  Elo difference {}, normalised {}, LOS {}",
                estimate(elo, 1),
                estimate(nelo, 1),
                los.map_or_else(|_| "?".to_owned(), |los| format!("{:.1}%", 100.0 * los)),
            ));
            lines.push(wrapped(&format!("  {}", figures::elo_of_two(Language::En))));
        }
        (Err(why), _) | (_, Err(why)) => {
            let why = events::reason(why);
            let words = figures::no_estimate(why, Language::En) + &advice(why, snapshot);
            lines.push(wrapped(&format!("  Elo difference: {words}")));
        }
    }
    if let Some(counts) = &pair.counts {
        let names = match counts.len() {
            5 => " (LL LD DD+WL WD WW)",
            3 => " (L D W)",
            _ => "",
        };
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        lines.push(format!(
            "  deals by points{names}: {}; even {:.1}%",
            counts.join(" "),
            100.0 * comparison.draw_ratio
        ));
    }
    if let Some(test) = test {
        let (low, high) = test.bounds;
        let decision = match test.decision {
            None => "undecided".to_owned(),
            Some(decision) => format!("{} accepted", word(decision)),
        };
        lines.push(format!(
            "  SPRT: LLR {:.2} in ({low:.2}, {high:.2}), {decision}",
            test.llr
        ));
    }
    lines
}

/// Rounds and matches: who has played, who will, as far as it is known.
pub fn schedule(schedule: &dyn Schedule, names: &[String]) -> anyhow::Result<()> {
    for round in schedule.rounds() {
        let begun = round.matches.len();
        text(&format!("\n{}\n", round.name))?;
        for one in round.matches.iter().take(MATCHES) {
            line(&format!("  {}", match_line(one, names)))?;
        }
        if begun > MATCHES {
            text(&format!("  and {} more matches\n", begun - MATCHES))?;
        }
    }
    Ok(())
}

fn match_line(one: &Match, names: &[String]) -> String {
    let players = one.players.iter().map(|player| match player {
        Participant::Entrant(who) => shorten(&names[who.index()], report::LONGEST_NAME),
        Participant::Filler => "(filler)".to_owned(),
        Participant::Bye => "(bye)".to_owned(),
        Participant::Pending(from) => format!("({from})"),
    });
    let players: Vec<String> = players.collect();
    let deals = match (one.over, one.groups) {
        _ if one.players.contains(&Participant::Bye) => String::new(),
        (true, 0) => ", not played".to_owned(),
        (false, 0) => format!(", up to {}", plural(one.most, "deal")),
        (over, groups) => {
            let points = one.points.iter().map(|half| half.points().to_string());
            let so_far = if over { "" } else { " so far" };
            let points: Vec<String> = points.collect();
            let deals = plural(groups, "deal");
            format!(", {} after {deals}{so_far}", points.join(" : "))
        }
    };
    format!("{} {}{deals}", one.id.0, players.join(" - "))
}

/// A moment as people write it, to the minute.
pub fn date(unix_ms: i64) -> String {
    // No calendar goes further.
    const LAST: i64 = 253_402_300_799_000;
    let since = Duration::from_millis(unix_ms.clamp(0, LAST) as u64);
    let text = humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + since).to_string();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

/// A figure and its error bar; without one it is known only roughly.
fn estimate(estimate: Estimate, digits: usize) -> String {
    // Adding 0 turns -0 into 0.
    let scale = 10_f64.powi(digits as i32);
    let value = (estimate.value * scale).round() / scale + 0.0;
    match estimate.error {
        Ok(error) => format!("{value:+.digits$} ± {error:.digits$}"),
        Err(_) => format!("{value:+.digits$} ± ?"),
    }
}

/// The rows of all tables, each with the reason why a figure of it has no error bar.
fn error_bars(snapshot: &Snapshot) -> Vec<(String, Option<MissingEstimate>)> {
    let standings = &snapshot.standings;
    let margins = shows_margins(snapshot);
    let rows = standings.rows.iter().flat_map(|row| {
        let figures = [row.rating, row.margin.filter(|_| margins)];
        let name = snapshot.name(row.entrant);
        figures
            .into_iter()
            .flatten()
            .map(move |of| (name.to_owned(), of.error.err()))
    });
    let duel = standings.duel().into_iter();
    let pairs = table_of_pairs(snapshot)
        .iter()
        .chain(duel)
        .filter_map(|pair| {
            let elo = pair.comparison?.elo.ok()?;
            Some((pair_name(snapshot, pair), elo.error.err()))
        });
    let all = rows.chain(pairs);
    all.map(|(name, why)| (name, why.map(events::reason)))
        .collect()
}

/// What to set for a figure that is missing, where that is known, to follow the reason.
fn advice(why: MissingEstimate, snapshot: &Snapshot) -> String {
    match why {
        MissingEstimate::TooFewGroups { needs, .. } if snapshot.definition.deals < needs => {
            format!("; set deals to {needs} or more")
        }
        _ => String::new(),
    }
}

/// A column's name, where the whole one is long.
fn short(tie: TieBreak) -> &'static str {
    match tie {
        TieBreak::Buchholz => "Buch",
        TieBreak::SonnebornBerger => "SB",
        other => other.words(),
    }
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::AcceptH0 => "H0",
        Decision::AcceptH1 => "H1",
    }
}

/// The median, the 99th percentile and the longest.
fn quantiles(buckets: &Buckets) -> [String; 3] {
    let times = [buckets.quantile(0.5), buckets.quantile(0.99), buckets.max()];
    times.map(|us| us.map_or_else(dash, time))
}

/// A number of points, with a decimal only where it has one.
#[must_use]
pub fn number(value: f64) -> String {
    match value.fract() == 0.0 {
        true => format!("{value}"),
        false => format!("{value:.1}"),
    }
}

fn dash() -> String {
    "-".to_owned()
}
