//! Proves a tournament from its records and its root: that its deals are those
//! of the root that was committed to, that its schedule asked for exactly these
//! games, that every record plays again, and that what the store counts is what
//! the records say.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use arena_ladder::{Entrant, Group, GroupScore, Lineup};
use arena_store::{GameFilter, GameRow, Store, Tournament, TournamentState};
use referee_core::{Record, Root, Verdict};
use referee_games::replay;
use serde_json::json;

use super::{
    Definition, chance,
    crew::filler_name,
    table::{Ahead, scores},
    worker::{counted, game_id},
};
use crate::{
    End,
    report::{event, text, wrapped},
    setups::Setups,
    tally::{course, moves, plural},
    usage,
    verbs::Format,
};

/// So many games are looked at with one question to the store.
const PAGE: u32 = 1000;
/// So many faults are told.
const TOLD: usize = 20;

/// Proves it and says so; exit code 1 where it is not what it says.
pub(crate) async fn verify(
    store: &Store,
    tournament: &Tournament,
    format: Format,
) -> anyhow::Result<End> {
    let Some(root) = tournament.root.clone() else {
        return usage(format!(
            "{}: it is not over, and its root not known here; it can be proved when it is over",
            tournament.name
        ));
    };
    let definition = Definition::of(tournament)?;
    let mut court = Court {
        tournament,
        setups: Setups::new(definition.kind()?, definition.setups.clone())?,
        definition,
        root,
        faults: Vec::new(),
        games: 0,
    };
    if court.root.commitment() != tournament.commitment {
        court.fault("the root is not the one that was committed to".to_owned());
    }
    let asked = court.schedule(store).await?;
    court.games(store, asked).await?;
    let Court { faults, games, .. } = court;
    match format {
        Format::Json => event(&json!({
            "type": "verify",
            "name": tournament.name,
            "state": tournament.state.word(),
            "proved": faults.is_empty(),
            "games": games,
            "faults": faults,
        }))?,
        Format::Text if faults.is_empty() => line(&format!(
            "{}: proved{}, {} of the root with hash {}",
            tournament.name,
            if tournament.state == TournamentState::Over {
                ""
            } else {
                " so far"
            },
            plural(games, "game"),
            tournament.commitment
        ))?,
        Format::Text => {
            line(&format!(
                "{}: NOT PROVED, {} in {}",
                tournament.name,
                plural(faults.len() as u32, "fault"),
                plural(games, "game")
            ))?;
            for fault in faults.iter().take(TOLD) {
                line(&format!("  {fault}"))?;
            }
            if faults.len() > TOLD {
                line(&format!("  and {} more", faults.len() - TOLD))?;
            }
        }
    }
    Ok(if faults.is_empty() {
        End::Done
    } else {
        End::No
    })
}

fn line(words: &str) -> anyhow::Result<()> {
    text(&format!("{}\n", wrapped(words)))
}

struct Court<'a> {
    tournament: &'a Tournament,
    definition: Definition,
    setups: Setups,
    root: Root,
    faults: Vec<String>,
    games: u32,
}

/// What the schedule asked for.
struct Asked {
    /// Each group, with the score that the store has of it.
    groups: BTreeMap<u64, (Group, Option<GroupScore>)>,
    /// Groups that count for nobody, whether they were asked for or not.
    uncounted: Vec<Range<u64>>,
    /// Who takes no further part.
    out: Vec<Entrant>,
    /// Groups that the store has and that nobody asked for.
    strange: BTreeSet<u64>,
}

impl Asked {
    /// Whether a group need not be there, and may be: it was begun before its
    /// match was decided or a player of it set aside.
    fn in_vain(&self, group: u64, lineup: &Lineup) -> bool {
        let is_out = |who: &Entrant| self.out.contains(who);
        self.uncounted.iter().any(|range| range.contains(&group))
            || lineup.iter().flatten().any(is_out)
    }
}

impl Court<'_> {
    fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    /// Folds the schedule again, and gives what it asked for.
    async fn schedule(&mut self, store: &Store) -> anyhow::Result<Asked> {
        let entrants = self.tournament.entrants.len();
        let mut schedule = self.definition.schedule(entrants, chance(&self.root))?;
        let mut scores = scores(store, self.tournament.id).await?;
        let mut groups = BTreeMap::new();
        let mut ahead = Ahead::of(&scores);
        while let Some(group) = schedule.next()
            && ahead.is_near(group.number)
        {
            let scored = scores.remove(&group.number);
            if let Some(scored) = &scored
                && (scored.lineup != group.lineup
                    || scored.matchup != group.matchup
                    || schedule.record(&scored.score).is_err())
            {
                self.fault(format!(
                    "group {}: the schedule asked for it between others",
                    group.number
                ));
            }
            groups.insert(group.number, (group, scored.map(|scored| scored.score)));
        }
        let out = schedule.set_aside();
        let mut asked = Asked {
            groups,
            uncounted: schedule.uncounted(),
            out: out.into_iter().map(|aside| aside.entrant).collect(),
            strange: BTreeSet::new(),
        };
        for (number, scored) in scores {
            if !asked.in_vain(number, &scored.lineup) {
                asked.strange.insert(number);
            }
        }
        Ok(asked)
    }

    /// Every game: its record, and what the store counts of it.
    async fn games(&mut self, store: &Store, mut asked: Asked) -> anyhow::Result<()> {
        let id = self.tournament.id;
        let mut filter = GameFilter::default();
        let mut sums: Option<GroupScore> = None;
        let mut places: Vec<Vec<u8>> = Vec::new();
        let mut lineup = Lineup::new();
        let mut tallies: BTreeMap<Came, u64> = BTreeMap::new();
        let mut there: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
        loop {
            let page = store.games(id, &filter, PAGE).await?;
            let Some(last) = page.last() else { break };
            filter.after = Some((last.group, last.seating));
            for game in page {
                self.games += 1;
                there.entry(game.group).or_default().insert(game.seating);
                let group = asked.groups.get(&game.group).map(|(group, _)| group);
                let proved = match store.record(id, game.group, game.seating).await {
                    Ok(Some(record)) => self.game(&game, &record, group),
                    Ok(None) => Err("it has no record".to_owned()),
                    Err(error) => Err(error.to_string()),
                };
                if let Err(why) = proved {
                    let Key(group, seating) = key(&game);
                    self.fault(format!("group {group}, seating {seating}: {why}"));
                }
                if group.is_none() && !asked.in_vain(game.group, &game.lineup) {
                    asked.strange.insert(game.group);
                }
                if sums.as_ref().is_some_and(|sums| sums.number != game.group) {
                    self.count(&mut tallies, &sums, &lineup, std::mem::take(&mut places));
                    self.group(sums.take(), &asked);
                }
                add(&mut sums, &game);
                let mut by_lineup = vec![0; game.order.len()];
                for (place, at) in game.places.iter().zip(&game.order) {
                    by_lineup[*at] = *place;
                }
                places.push(by_lineup);
                lineup.clone_from(&game.lineup);
            }
        }
        self.count(&mut tallies, &sums, &lineup, places);
        self.group(sums, &asked);
        let stored = store.group_counts(id, &[]).await?.into_iter();
        let stored: BTreeMap<Came, u64> = stored
            .map(|tally| ((tally.lineup, tally.places, tally.margins), tally.groups))
            .collect();
        if stored != tallies {
            self.fault("the table is not made of what the games add up to".to_owned());
        }
        self.missing(&asked, &there);
        for group in asked.strange {
            self.fault(format!("group {group}: the schedule never asked for it"));
        }
        Ok(())
    }

    /// What is over has all its games, and so has a group with a score.
    fn missing(&mut self, asked: &Asked, there: &BTreeMap<u64, BTreeSet<u32>>) {
        let over = self.tournament.state == TournamentState::Over;
        for (number, (group, score)) in &asked.groups {
            let wanted = over && !asked.in_vain(*number, &group.lineup);
            match there.get(number) {
                _ if !wanted && score.is_none() => {}
                None => self.fault(format!("group {number}: it was not played")),
                Some(there) => {
                    let all = self.definition.seatings.games(group.lineup.len()) as u32;
                    for seating in (0..all).filter(|seating| !there.contains(seating)) {
                        self.fault(format!(
                            "group {number}, seating {seating}: there is no such game"
                        ));
                    }
                }
            }
        }
    }

    /// One game: its record is whole, plays again, is the one that the schedule
    /// asked for, and says what the store counts.
    fn game(&self, row: &GameRow, record: &str, asked: Option<&Group>) -> Result<(), String> {
        let record = Record::parse(record).map_err(|error| format!("its record: {error}"))?;
        replay(&record, |_| {}).map_err(|error| format!("its record does not replay: {error}"))?;
        let header = &record.header;
        if header.seed != self.root.seed(&self.definition.game, row.group) {
            return Err("its seed is not the root's".to_owned());
        }
        if header.game != self.definition.game || header.limits != self.definition.limits {
            return Err("it was played as another game or with other limits".to_owned());
        }
        if let Some(group) = asked {
            if header.game_id != game_id(group.matchup.0, group.at, row.seating) {
                return Err(format!("its record is of game {}", header.game_id));
            }
            if header.setup != *self.setups.of(group.at) {
                return Err("it was played with another set-up".to_owned());
            }
            let orders = self.definition.seatings.of(group.lineup.len(), group.turn);
            if orders.get(row.seating as usize) != Some(&row.order) || row.lineup != group.lineup {
                return Err("others sat there than the schedule says".to_owned());
            }
        }
        for (seat, name) in header.players.iter() {
            let place = row.order[seat.index()];
            let is_they = match row.lineup[place] {
                Some(who) => self.tournament.entrants[who.index()].name == *name,
                None => filler_name(place) == *name,
            };
            if !is_they {
                return Err(format!("seat {seat} was {name}"));
            }
        }
        let Verdict::Finished { outcome, fouls } = &record.result.verdict else {
            return Err("its record is of a void game".to_owned());
        };
        let same = outcome.places.as_slice() == row.places
            && outcome.scores.as_slice() == row.scores
            && outcome.reason == row.reason
            && *fouls == row.fouls
            && record.play_hash() == row.play_hash
            && course(&record) == row.course
            && record.result.thought_us.as_slice() == row.thought_us
            && moves(&record).count() == row.plies as usize;
        if !same {
            return Err("the store counts another result than its record has".to_owned());
        }
        let mut counters = BTreeMap::new();
        for (who, counter, count) in &row.counters {
            if !counter.is_of_the_run() {
                *counters.entry((*who, counter.clone())).or_default() += count;
            }
        }
        if counters != counted(&record, |seat| row.lineup[row.order[seat]]) {
            return Err("its counters are not what its record says".to_owned());
        }
        Ok(())
    }

    /// Counts a group that is whole with those that came out the same.
    fn count(
        &self,
        tallies: &mut BTreeMap<Came, u64>,
        sums: &Option<GroupScore>,
        lineup: &Lineup,
        places: Vec<Vec<u8>>,
    ) {
        let all = self.definition.seatings.games(lineup.len()) as u32;
        if let Some(sums) = sums
            && sums.games == all
        {
            let came = (lineup.clone(), places, sums.margins.clone());
            *tallies.entry(came).or_default() += 1;
        }
    }

    /// One group: its score is what its games add up to.
    fn group(&mut self, sums: Option<GroupScore>, asked: &Asked) {
        if let Some(sums) = sums
            && let Some((_, Some(score))) = asked.groups.get(&sums.number)
            && *score != sums
        {
            self.fault(format!(
                "group {}: its score is not what its games add up to",
                sums.number
            ));
        }
    }
}

/// How a group came out: lineup, places by game, margins.
type Came = (Lineup, Vec<Vec<u8>>, Vec<i64>);

/// A game within its tournament.
struct Key(u64, u32);

fn key(game: &GameRow) -> Key {
    Key(game.group, game.seating)
}

/// Adds a game to the score of its group.
fn add(sums: &mut Option<GroupScore>, game: &GameRow) {
    sums.get_or_insert_with(|| GroupScore::new(game.group, game.lineup.len()))
        .add_game(
            &game.lineup,
            &game.order,
            &game.places,
            &game.scores,
            &game.fouls,
        );
}
