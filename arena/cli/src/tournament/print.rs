//! A tournament as it stands, for people and for programs.

use arena_ladder::{
    elo::Estimate,
    schedule::{Ranked, TieBreak},
    sprt::Decision,
    standings::{Meeting, StandingsRow},
};
use arena_store::TournamentState;
use comfy_table::{CellAlignment, Table as Grid, presets};
use owo_colors::OwoColorize as _;
use serde_json::json;

use super::{
    buckets::Buckets,
    show,
    table::{Table, Test},
};
use crate::{
    End,
    report::{self, event, shorten, text, time, wrapped},
    tally::plural,
    verbs::Format,
};

/// So many pairs are shown; all of them are in the JSON.
const PAIRS: usize = 28;

impl Table {
    /// The table, and what belongs to it.
    pub(crate) fn show(&self, format: Format) -> anyhow::Result<End> {
        match format {
            Format::Json => {
                event(&self.event())?;
                event(&self.figures_event())?;
            }
            Format::Text => {
                self.standings()?;
                self.duel()?;
                self.pairs()?;
                self.manners()?;
                self.notes()?;
            }
        }
        let somebody = self.standings.rows.iter().any(|row| row.games > 0);
        let well = somebody && self.set_aside.is_empty();
        let over = self.tournament.state == TournamentState::Over;
        Ok(if over && !well { End::No } else { End::Done })
    }

    /// What it is and how far it has come.
    pub(crate) fn introduce(&self) -> anyhow::Result<()> {
        let tournament = &self.tournament;
        let about = if self.definition.breaks_ties() {
            "about"
        } else {
            "at most"
        };
        let of = |planned: u64| format!(" of {about} {planned}");
        let line = format!(
            "{}: {}, {} bots, {}, {}{} deals",
            tournament.name,
            self.definition.kind()?.info().title,
            self.names.len(),
            tournament.state.word(),
            self.count.groups,
            self.count.planned.map_or_else(String::new, of),
        );
        text(&format!("{}\n", wrapped(&line)))?;
        text(&format!(
            "begun {}, {}\n",
            show::date(tournament.created_unix_ms),
            if tournament.reproduction {
                "a reproduction, by a seed that was typed"
            } else {
                "with a secret root, sha256"
            }
        ))?;
        if !tournament.reproduction {
            text(&format!("  {}\n", tournament.commitment))?;
        }
        text("\n")
    }

    fn standings(&self) -> anyhow::Result<()> {
        if self.standings.games == 0 {
            return text("no deal has been played from every seating yet\n");
        }
        // Many games make wide columns: the names give way, then how ties were
        // broken, of which the JSON has all.
        let mut lines = self.standings_lines(report::LONGEST_NAME, 2);
        for (longest, ties) in [(12, 2), (8, 2), (8, 1), (8, 0)] {
            if lines
                .iter()
                .any(|line| line.chars().count() > report::WIDTH)
            {
                lines = self.standings_lines(longest, ties);
            }
        }
        for (at, line) in lines.iter().enumerate() {
            if at == 0 {
                text(&format!("{}\n", line.bold()))?;
            } else {
                text(&format!("{line}\n"))?;
            }
        }
        Ok(())
    }

    fn standings_lines(&self, longest: usize, ties: usize) -> Vec<String> {
        let four = self.standings.seats > 2;
        // Places alone give two points more than the others at most.
        let margins = || self.standings.rows.iter().filter_map(|row| row.margin);
        let scored = margins().any(|margin| margin.value.abs() > 2.0);
        let ties: Vec<TieBreak> = self
            .ranking
            .iter()
            .flatten()
            .next()
            .map(|first| {
                first
                    .ties
                    .iter()
                    .map(|(what, _)| *what)
                    .take(ties)
                    .collect()
            })
            .unwrap_or_default();
        let mut header = vec!["#", "bot"];
        if self.ranking.is_some() {
            header.push("pts");
            header.extend(ties.iter().map(|tie| short(*tie)));
        }
        header.extend(["games", "points"]);
        header.push(if four { "place" } else { "score" });
        header.push(if four { "1-2-3-4" } else { "W-D-L" });
        header.push("Elo ± 95 %");
        if scored {
            header.push("margin");
        }
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING);
        grid.set_header(&header);
        for (rank, ranked, row) in self.ordered() {
            let mut cells = vec![rank, shorten(self.name(row.entrant), longest)];
            if self.ranking.is_some() {
                cells.push(ranked.map_or_else(dash, |one| number(one.points)));
                for tie in &ties {
                    let value =
                        ranked.and_then(|one| one.ties.iter().find(|(what, _)| what == tie));
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
            if scored {
                cells.push(row.margin.map_or_else(dash, |margin| estimate(margin, 1)));
            }
            grid.add_row(cells);
        }
        for column in (0..header.len()).filter(|column| *column != 1) {
            if let Some(column) = grid.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines = grid.lines();
        lines.map(|line| line.trim_end().to_owned()).collect()
    }

    /// The rows in the order of the schedule's ranking, or of their own.
    fn ordered(&self) -> Vec<(String, Option<&Ranked>, &StandingsRow)> {
        let rows = &self.standings.rows;
        match &self.ranking {
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

    /// All that can be said of two.
    fn duel(&self) -> anyhow::Result<()> {
        let Some(pair) = self.standings.duel() else {
            return Ok(());
        };
        let test = self.tests.first().cloned().flatten();
        text(&format!(
            "\n{}\n",
            duel_lines(
                pair,
                self.name(pair.first),
                self.name(pair.second),
                test.as_ref()
            )
            .join("\n")
        ))
    }

    /// Everybody against everybody.
    fn pairs(&self) -> anyhow::Result<()> {
        let pairs = &self.standings.pairs;
        if self.standings.duel().is_some() || pairs.is_empty() || pairs.len() > PAIRS {
            return Ok(());
        }
        let tested = self.tests.iter().any(Option::is_some);
        let mut header = vec!["", "W-D-L", "score", "Elo ± 95 %"];
        if tested {
            header.push("test");
        }
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING);
        grid.set_header(header);
        for (pair, test) in pairs.iter().zip(&self.tests) {
            let elo = pair.comparison.and_then(|comparison| comparison.elo.ok());
            let score = pair.comparison.map(|comparison| comparison.score);
            let names = [pair.first, pair.second].map(|who| shorten(self.name(who), 14));
            let mut cells = vec![
                names.join(" - "),
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
            grid.add_row(cells);
        }
        for column in 1..4 {
            if let Some(column) = grid.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        text("\n")?;
        for line in grid.lines() {
            text(&format!("{}\n", line.trim_end()))?;
        }
        Ok(())
    }

    /// How the bots behaved: times and fouls.
    fn manners(&self) -> anyhow::Result<()> {
        if self.standings.games == 0 {
            return Ok(());
        }
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING);
        grid.set_header(["", "median", "p99", "max", "fouls"]);
        for (_, _, row) in self.ordered() {
            let figure = &self.figures.bots[row.entrant.index()];
            let ask = |share: f64| figure.ask.quantile(share).map_or_else(dash, time);
            let fouls: Vec<String> = figure
                .fouls
                .iter()
                .map(|(kind, count)| format!("{} {count}", kind.replace('-', " ")))
                .collect();
            grid.add_row([
                shorten(self.name(row.entrant), report::LONGEST_NAME),
                ask(0.5),
                ask(0.99),
                figure.ask.max().map_or_else(dash, time),
                shorten(&fouls.join(", "), 34),
            ]);
        }
        for column in 1..4 {
            if let Some(column) = grid.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let limit = self.definition.limits.per_move;
        text(&format!("\nthinking time a move, of {limit:?}\n"))?;
        for line in grid.lines() {
            text(&format!("{}\n", line.trim_end()))?;
        }
        Ok(())
    }

    /// What does not count, what the schedule remarks, and what to beware of.
    fn notes(&self) -> anyhow::Result<()> {
        let count = self.count;
        let mut notes = Vec::new();
        let rated = self.standings.rows.iter().filter_map(|row| row.rating);
        let compared = self.standings.pairs.iter().filter_map(|pair| {
            let comparison = pair.comparison?;
            comparison.elo.ok()
        });
        if rated.chain(compared).any(|elo| elo.error.is_err()) {
            notes.push("± ?: not enough games to say".to_owned());
        }
        if self.schedule.is_none() {
            notes.push(
                "what the schedule leaves to chance is not known here before the end, so all \
                 whole deals are counted, also those that were played in vain"
                    .to_owned(),
            );
        }
        if count.half > 0 {
            let (these, are) = if count.half == 1 {
                ("deal has", "does")
            } else {
                ("deals have", "do")
            };
            notes.push(format!(
                "{} {these} not been played from every seating and {are} not count ({})",
                count.half,
                plural(count.half_games as u32, "game")
            ));
        }
        if count.in_vain > 0 {
            let (deals, were) = match count.in_vain {
                1 => ("1 deal counts".to_owned(), "it was"),
                many => (format!("{many} deals count"), "they were"),
            };
            notes.push(format!(
                "{deals} for nobody: {were} begun before the match was decided, or a player is \
                 set aside"
            ));
        }
        notes.extend(self.remarks());
        if !notes.is_empty() {
            text("\n")?;
        }
        for note in notes {
            text(&format!("{}\n", wrapped(&note)))?;
        }
        for warning in self.warnings() {
            anstream::eprintln!("{} {warning}", "warning:".yellow().bold());
        }
        Ok(())
    }

    /// How the machine did: for people what the metrics are for programs.
    pub(crate) fn figures(&self) -> anyhow::Result<()> {
        let figures = &self.figures;
        let ended: Vec<String> = figures
            .ended
            .iter()
            .map(|(how, games)| format!("{} {games}", how.replace('-', " ")))
            .collect();
        if !ended.is_empty() {
            text(&format!(
                "\n{}\n",
                wrapped(&format!("games ended by: {}", ended.join(", ")))
            ))?;
        }
        let all: u64 = figures.seats.values().sum();
        if all > 0 {
            let seats: Vec<String> = figures
                .seats
                .values()
                .map(|half| format!("{:.1}%", 100.0 * *half as f64 / all as f64))
                .collect();
            text(&format!("points by seat: {}\n", seats.join(", ")))?;
        }
        for (what, buckets) in [
            ("work waited for a worker", &figures.queue),
            ("a commit of the store took", &figures.commit),
            ("the referee's worst delay in a second", &figures.late),
        ] {
            if buckets.count() > 0 {
                text(&format!("{what}: {}\n", quantiles(buckets)))?;
            }
        }
        if figures.voided > 0 {
            text(&format!("games played again: {}\n", figures.voided))?;
        }
        Ok(())
    }

    /// Every match.
    pub(crate) fn schedule(&self) -> anyhow::Result<()> {
        match &self.schedule {
            Some(schedule) => show::schedule(&**schedule, &self.names),
            None => text("\nthe schedule can't be shown before the root is opened\n"),
        }
    }

    /// The table as one event; nothing in it was measured by a clock.
    fn event(&self) -> serde_json::Value {
        let tournament = &self.tournament;
        json!({
            "type": "standings",
            "name": tournament.name,
            "game": tournament.game,
            "state": tournament.state.word(),
            "root_commitment": tournament.commitment,
            "root": tournament.root.as_ref().filter(|_| tournament.state == TournamentState::Over)
                .map(referee_core::Root::reveal),
            "reproduction": tournament.reproduction,
            "bots": tournament.entrants.iter().map(|entrant| json!({
                "name": entrant.name, "version": entrant.version,
                "bot": entrant.spec, "owner": entrant.owner,
            })).collect::<Vec<_>>(),
            "count": self.count,
            "standings": self.standings,
            "ranking": self.ranking,
            "tests": self.tests,
            "set_aside": self.set_aside,
            "remarks": self.remarks(),
            "warnings": self.warnings(),
            "rounds": self.schedule.as_ref().map(|schedule| schedule.rounds()),
        })
    }

    /// What was counted beside the results, as one event.
    fn figures_event(&self) -> serde_json::Value {
        let times = |buckets: &Buckets| {
            json!({
                "count": buckets.count(),
                "median_us": buckets.quantile(0.5),
                "p99_us": buckets.quantile(0.99),
                "max_us": buckets.max(),
            })
        };
        let figures = &self.figures;
        let bots = self.names.iter().zip(&figures.bots);
        json!({
            "type": "figures",
            "bots": bots.map(|(name, figure)| json!({
                "name": name,
                "thinking": times(&figure.ask),
                "fouls": figure.fouls,
                "seats": figure.seats,
            })).collect::<Vec<_>>(),
            "ended": figures.ended,
            "half_points_by_seat": figures.seats,
            "voided": figures.voided,
            "queue_wait": times(&figures.queue),
            "store_commit": times(&figures.commit),
            "referee_lateness": times(&figures.late),
        })
    }
}

/// Elo, normalised Elo, likelihood of superiority, pairs and test of two.
pub(crate) fn duel_lines(
    pair: &Meeting,
    first: &str,
    second: &str,
    test: Option<&Test>,
) -> Vec<String> {
    let few = || "not enough games".to_owned();
    let Some(comparison) = pair.comparison else {
        return vec![wrapped(&format!("{first} against {second}: {}", few()))];
    };
    let mut lines = vec![
        wrapped(&format!(
            "{first} against {second}: {}-{}-{}, {:.1}% of {}",
            pair.wins,
            pair.draws,
            pair.losses,
            100.0 * comparison.score,
            plural((pair.wins + pair.draws + pair.losses) as u32, "game"),
        )),
        format!(
            "  Elo {}, normalised {}, LOS {}",
            comparison
                .elo
                .map_or_else(|_| few(), |elo| estimate(elo, 1)),
            comparison
                .nelo
                .map_or_else(|_| few(), |nelo| estimate(nelo, 1)),
            comparison
                .los
                .map_or_else(|_| few(), |los| format!("{:.1}%", 100.0 * los)),
        ),
    ];
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
        let so = match test.decision {
            None => "undecided".to_owned(),
            Some(decision) => format!("{} accepted", word(decision)),
        };
        lines.push(format!(
            "  SPRT: LLR {:.2} in ({low:.2}, {high:.2}), {so}",
            test.llr
        ));
    }
    lines
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

/// A figure and its error bar; without one it is known only roughly.
pub(crate) fn estimate(estimate: Estimate, digits: usize) -> String {
    // Nothing below nought is still nought.
    let scale = 10_f64.powi(digits as i32);
    let value = (estimate.value * scale).round() / scale + 0.0;
    match estimate.error {
        Ok(error) => format!("{value:+.digits$} ± {error:.digits$}"),
        Err(_) => format!("{value:+.digits$} ± ?"),
    }
}

fn quantiles(buckets: &Buckets) -> String {
    let read = |us: Option<u64>| us.map_or_else(dash, time);
    format!(
        "median {}, p99 {}, max {}",
        read(buckets.quantile(0.5)),
        read(buckets.quantile(0.99)),
        read(buckets.max())
    )
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value}")
    } else {
        format!("{value:.1}")
    }
}

fn dash() -> String {
    "-".to_owned()
}
