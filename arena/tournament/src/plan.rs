//! The plan of a run: a definition, its bots ready to be started, and the root of all chance. Only
//! the arena has it; a worker gets leases.

use std::{collections::BTreeSet, path::Path};

use arena_ladder::{Entrant, Lineup, Schedule};
use arena_store::{NewEntrant, Tournament};
use referee_bots::{BotOptions, Entry, Schemes, Trust};
use referee_core::{Dice, GameKind, Root, Seed};
use referee_worker::{
    Abilities, Need,
    lease::{Assignment, GameKey, LeasedBot},
};

use crate::{Definition, Planned, Setups, TournamentError, definition::chance, error::invalid};

/// A run that is about to begin or to go on.
pub struct Plan {
    /// The definition of what is played.
    pub definition: Definition,
    /// The game.
    pub kind: &'static dyn GameKind,
    /// The set-ups that its deals begin with.
    pub setups: Setups,
    /// The bots of the entrants, by number.
    pub bots: Vec<PlannedBot>,
    /// The bot that takes the seats that nobody has.
    pub filler: Entry,
    /// The root that all seeds come from.
    pub root: Root,
    /// Game ids begin with this, where the games of several runs lie in one place.
    pub prefix: String,
    /// The number of the deal that group 0 plays.
    pub first_deal: u64,
    /// True if all games of a chunk are played one after the other, with one budget of time.
    pub series: bool,
}

/// A bot that takes part.
#[derive(Clone, Debug)]
pub struct PlannedBot {
    /// Its name, and how to start or reach it.
    pub entry: Entry,
    /// The most memory that a process of it may add after its start, in bytes.
    pub memory_limit: Option<u64>,
    /// True if the most memory that it adds is measured.
    pub measure_memory: bool,
    /// True if the part of its budget that it has spent counts in the next game of a series.
    pub budget: bool,
}

impl Plan {
    /// A run of these bots, as the definition says.
    ///
    /// # Errors
    ///
    /// The definition contradicts itself.
    pub fn new(
        definition: Definition,
        entries: Vec<Entry>,
        root: Root,
        schemes: &Schemes,
    ) -> Result<Self, TournamentError> {
        let kind = definition.kind()?;
        let memory_limit = definition.memory_mib.map(|mib| mib * 1024 * 1024);
        let bots = entries.into_iter().map(|entry| PlannedBot {
            entry,
            memory_limit,
            measure_memory: false,
            budget: true,
        });
        Ok(Self {
            kind,
            setups: Setups::new(kind, definition.setups.clone())?,
            bots: bots.collect(),
            filler: Entry::read(&format!("filler={}", definition.filler), schemes)?,
            root,
            prefix: String::new(),
            first_deal: 0,
            series: false,
            definition,
        })
    }

    /// The run of a stored tournament.
    ///
    /// # Errors
    ///
    /// Its root is not known here, or it was made by another version.
    pub fn of(tournament: &Tournament, schemes: &Schemes) -> Result<Self, TournamentError> {
        let definition = Definition::of(tournament)?;
        let Some(root) = tournament.root.clone() else {
            return invalid(format!(
                "{}: its root is not known here, so its deals can't be made",
                tournament.name
            ));
        };
        let entries = entries(&tournament.entrants, schemes)?;
        Self::new(definition, entries, root, schemes)
    }

    /// The schedule, before anything has been played.
    ///
    /// # Errors
    ///
    /// The shape does not suit the number of bots.
    pub fn schedule(&self) -> Result<Box<dyn Schedule>, TournamentError> {
        self.definition
            .schedule(self.bots.len(), chance(&self.root))
    }

    /// Number of games of a group.
    #[must_use]
    pub fn games_in_group(&self) -> u64 {
        let seats = usize::from(self.kind.info().seats);
        self.definition.seatings.games(seats) as u64
    }

    /// Names of the bots, by number.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.bots.iter().map(|bot| &*bot.entry.name)
    }

    /// The bots that run as services: somebody else starts them.
    pub(crate) fn services(&self) -> impl Iterator<Item = Entrant> {
        let bots = Entrant::all(self.bots.len() as u32).zip(&self.bots);
        let services = bots.filter(|(_, bot)| bot.entry.launcher().trust() == Trust::Remote);
        services.map(|(entrant, _)| entrant)
    }

    /// Everybody who may play, with the bot that fills seats.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let bots = self.bots.iter().map(|bot| &bot.entry);
        bots.chain([&self.filler])
    }

    /// True if somebody's program is run in the folder of the run. One that is packed is run in its
    /// own.
    #[must_use]
    pub fn needs_folder(&self) -> bool {
        let is_run_there =
            |bot: &Entry| bot.is_foreign_process() && bot.launcher().archive().is_none();
        self.entries().any(is_run_there)
    }

    /// Checks that the folder is there that the bots are run in, where that matters.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn check_folder(&self) -> Result<(), TournamentError> {
        let folder: &Path = &self.definition.directory;
        if self.needs_folder() && !folder.is_dir() {
            return invalid(format!(
                "its bots are run in the folder {}, and it is not there; restore it, so that no \
                 bot loses because it can't be started",
                folder.display()
            ));
        }
        Ok(())
    }

    /// Checks that the bots' files are there, and the folder that they are run in.
    ///
    /// # Errors
    ///
    /// Which is not.
    pub fn check_files(&self) -> Result<(), TournamentError> {
        if self.definition.kubernetes.is_some() {
            // Nothing of it is started here.
            return Ok(());
        }
        self.check_folder()?;
        let folder: &Path = &self.definition.directory;
        for bot in &self.bots {
            bot.entry.check_files(folder)?;
        }
        Ok(())
    }

    /// The identity of a bot, which comes from its content, where its SPEC says so: whoever plays
    /// it has the same.
    pub(crate) fn lasting_identity(&self, who: Option<Entrant>) -> Option<String> {
        let launcher = match who {
            Some(who) => self.bots[who.index()].entry.launcher(),
            None => self.filler.launcher(),
        };
        if launcher.archive().is_none() && launcher.lasting_spec().is_none() {
            return None;
        }
        launcher.identity(&self.definition.directory).ok().flatten()
    }

    /// The name of a game, which says nothing about its deal.
    #[must_use]
    pub fn game_id(&self, matchup: u32, at: u64, seating: u32) -> String {
        let prefix = &self.prefix;
        match self.definition.deals {
            _ if self.series => format!("{prefix}round-{}", at + 1),
            1 if !prefix.is_empty() => format!("{prefix}match-{matchup:04}-game-{seating}"),
            _ => format!("{prefix}{}", game_id(matchup, at, seating)),
        }
    }

    /// True if a group is a deal that its set-up has fixed, so that it would be known the second
    /// time.
    pub(crate) fn is_fixed(&self, at: u64) -> bool {
        self.kind.has_secrets() && self.setups.fixed(at).is_some()
    }

    /// One game, with its seed.
    pub(crate) fn assignment(
        &self,
        group: &arena_ladder::Group,
        seating: u32,
        order: &[usize],
    ) -> Assignment {
        let (setup, seed) = self.deal(group);
        Assignment {
            key: GameKey {
                group: group.number,
                seating,
            },
            game_id: self.game_id(group.matchup.0, group.at, seating),
            setup,
            seed,
            order: order.to_vec(),
        }
    }

    /// The deal of a group, with which all its games begin: the set-up and the seed. Both are
    /// secret as long as the deal may still be played.
    #[must_use]
    pub fn deal(&self, group: &arena_ladder::Group) -> (serde_json::Value, Seed) {
        let deal = self.first_deal + group.number;
        let setup = self.setups.of(self.first_deal + group.at).clone();
        (setup, self.root.seed(self.kind.info().name, deal))
    }

    /// The chance that decides in which order the deals of a chunk are played from one seating. It
    /// is secret as the deals are.
    pub(crate) fn dice_for_order(&self, first_group: u64, seating: u32) -> Dice {
        let purpose = format!("order of the games of seating {seating}");
        Dice::new(&self.root.seed(&purpose, first_group))
    }

    /// The bots of a lineup.
    pub(crate) fn lineup(&self, lineup: &Lineup) -> Vec<LeasedBot> {
        let bots = lineup.iter().enumerate();
        bots.map(|(place, &who)| {
            let bot = who.map(|who| &self.bots[who.index()]);
            LeasedBot {
                name: self.player(who, place),
                entry: bot.map_or(&self.filler, |bot| &bot.entry).clone(),
                options: BotOptions {
                    start_limit: self.definition.limits.start,
                    memory_limit: bot.and_then(|bot| bot.memory_limit),
                    measure_memory: bot.is_some_and(|bot| bot.measure_memory),
                    directory: Some(self.definition.directory.clone()),
                },
                budget: bot.is_none_or(|bot| bot.budget),
            }
        })
        .collect()
    }

    /// Needs of a worker that is to play games between these.
    pub(crate) fn needs(&self, lineup: &Lineup) -> BTreeSet<Need> {
        let entries = lineup.iter().map(|who| match who {
            Some(who) => &self.bots[who.index()].entry,
            None => &self.filler,
        });
        let mut needs: BTreeSet<Need> = entries.flat_map(Need::of).collect();
        needs.insert(Need::Game {
            game: self.definition.game.clone(),
        });
        if let Some(mib) = self.definition.memory_mib {
            needs.insert(Need::Memory { mib });
        }
        needs
    }

    /// True if a worker can play games between these.
    pub(crate) fn can_play(&self, worker: &Abilities, lineup: &Lineup) -> bool {
        match worker {
            Abilities::Local => true,
            Abilities::Remote(_) => self.needs(lineup).iter().all(|need| worker.has(need)),
        }
    }

    /// The name of who plays in this place of a lineup.
    pub(crate) fn player(&self, who: Option<Entrant>, place: usize) -> String {
        who.map_or_else(|| filler_name(place), |who| self.name(who).to_owned())
    }

    /// The name of an entrant.
    #[must_use]
    pub fn name(&self, who: Entrant) -> &str {
        &self.bots[who.index()].entry.name
    }
}

impl Planned {
    /// The run of what was read, whose results need not be stored.
    ///
    /// # Errors
    ///
    /// The schemes are not those that it was read with.
    pub fn plan(self, root: Root, schemes: &Schemes) -> Result<Plan, TournamentError> {
        let entries = entries(&self.entrants, schemes)?;
        Plan::new(self.definition, entries, root, schemes)
    }
}

/// The bots of a tournament, by number.
fn entries(entrants: &[NewEntrant], schemes: &Schemes) -> Result<Vec<Entry>, TournamentError> {
    let texts: Vec<String> = entrants
        .iter()
        .map(|entrant| format!("{}={}", entrant.name, entrant.spec))
        .collect();
    Ok(Entry::read_all(&texts, schemes)?)
}

/// The name of a game within its run.
#[must_use]
pub fn game_id(matchup: u32, at: u64, seating: u32) -> String {
    format!("match-{matchup:04}-deal-{at:04}-game-{seating}")
}

/// Name of the bot in a seat that nobody has, by its place in the lineup.
#[must_use]
pub fn filler_name(place: usize) -> String {
    format!("filler-{}", place + 1)
}

/// A root that nobody can guess.
///
/// # Errors
///
/// The system has no random numbers to give.
pub fn secret_root() -> Result<Root, TournamentError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        TournamentError::system("could not get random numbers from the system", error)
    })?;
    Ok(Root::new(bytes))
}
