//! A tournament as a person writes it, a TOML file, and what follows from it: a
//! definition, which the store keeps.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use arena_ladder::{
    Entrant, Field, ScheduleShape, Seatings, SetAsideRule, Sprt, schedule::MOST_ENTRANTS,
};
use arena_store::{BotRow, NewEntrant, NewTournament, Store, Tournament};
use referee_bots::{Entry, EntryError, Schemes, is_of_a_name, read_input_text, read_stream_text};
use referee_core::{GameKind, Limits, Root, expected_words, is_printable, printable};
use referee_games::{GAMES, game_name};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    Isolation, OnKubernetes, Setups, TournamentError,
    error::invalid as usage,
    setups::{openings, usual_setup},
    suggest::hint,
    unix_ms,
};

/// The deals of a match between any two, if nobody says how many.
pub const DEALS: u64 = 10;
/// Longest time that a bot of a tournament which runs as a service may be away, if nobody says it.
pub const AWAY: Duration = Duration::from_secs(600);
/// The same in a match, in front of which a person sits.
const AWAY_IN_MATCH: Duration = Duration::from_secs(60);
/// The bot that takes seats which nobody has, if nobody says which.
pub const FILLER: &str = "house:random";

/// The most bytes of a file: 1 KiB for each of the most bots.
const LARGEST: u64 = 4 * 1024 * 1024;
/// The most bytes of a list of openings.
const LARGEST_OPENINGS: u64 = 16 * 1024 * 1024;

/// The most bytes of a SPEC.
const LONGEST_SPEC: usize = 64 * 1024;
/// The most characters of a version or an owner.
const LONGEST_LINE: usize = 200;

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefinitionFile {
    name: Option<String>,
    game: String,
    shape: String,
    rounds: Option<u32>,
    challengers: Option<u32>,
    third_place: Option<bool>,
    deals: Option<u64>,
    seatings: Option<Seatings>,
    setup: Option<serde_json::Value>,
    openings: Option<PathBuf>,
    filler: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    limits: LimitsTable,
    #[serde(default, skip_serializing_if = "is_default")]
    stop: StopTable,
    #[serde(default, skip_serializing_if = "is_default")]
    set_aside: SetAsideTable,
    #[serde(skip_serializing)]
    run: Option<RunTable>,
    bots: Vec<BotTable>,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    #[serde(rename = "move")]
    per_move: Option<String>,
    start: Option<String>,
    budget: Option<String>,
    memory_mib: Option<u64>,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StopTable {
    sprt: Option<Sprt>,
    time: Option<String>,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetAsideTable {
    starts: Option<u32>,
    fouls: Option<u32>,
    away: Option<String>,
}

impl SetAsideTable {
    fn rule(&self) -> SetAsideRule {
        let standard = SetAsideRule::default();
        SetAsideRule {
            starts: self.starts.unwrap_or(standard.starts),
            fouls: self.fouls.unwrap_or(standard.fouls),
        }
    }

    /// Longest time that a bot may be away; none at all is a length of time here.
    fn away(&self) -> Result<Duration, TournamentError> {
        match self.away.as_deref() {
            Some("0" | "0s") => Ok(Duration::ZERO),
            text => Ok(time("set_aside.away", text)?.unwrap_or(AWAY)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunTable {
    on: On,
    isolation: Option<Isolation>,
    games: Option<u32>,
}

/// The place where a tournament is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// By this arena, and by workers that join it.
    Here,
    /// By pods of a Kubernetes cluster.
    Kubernetes,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BotTable {
    name: Option<String>,
    bot: String,
    version: Option<String>,
    owner: Option<String>,
}

/// The definition of a tournament, without its entrants: everything that must be the same when it
/// is resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The game's name.
    pub game: String,
    /// The shape of the schedule: it decides who plays whom.
    pub shape: ScheduleShape,
    /// Number of deals of a match.
    pub deals: u64,
    /// From which seatings each deal is played.
    pub seatings: Seatings,
    /// The set-ups that deals begin with, in turn.
    pub setups: Vec<serde_json::Value>,
    /// The limits of every game.
    pub limits: Limits,
    /// Most memory that a bot's process may add after its start, in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u64>,
    /// The test that ends a match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<Sprt>,
    /// The rule that says when a bot that fails is set aside.
    pub patience: SetAsideRule,
    /// Longest time that a bot which runs as a service may be away, all its absences together.
    #[serde(default = "standard_away", skip_serializing_if = "is_standard_away")]
    pub away: Duration,
    /// Of bots that were readmitted the number of failed deals that are not held against them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub readmitted: BTreeMap<Entrant, u64>,
    /// The SPEC of the bot in the seats that no entrant has.
    pub filler: String,
    /// Longest time of a run: after it the run stops as if it had been asked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Duration>,
    /// True if what the bots print is stored with each game.
    #[serde(default, skip_serializing_if = "is_default")]
    pub logs: bool,
    /// The folder that the bots' commands are run in.
    pub directory: PathBuf,
    /// The settings for Kubernetes, if it is played there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<OnKubernetes>,
}

/// A definition, and who takes part.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The tournament's name.
    pub name: String,
    /// The definition of the tournament.
    pub definition: Definition,
    /// The entrants; the number of an entrant is its place here.
    pub entrants: Vec<NewEntrant>,
    /// The file with its openings, if it names one.
    pub openings: Option<PathBuf>,
}

/// The context in which a file is read.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The kinds of bots.
    pub schemes: &'a Schemes,
    /// The folder that relative paths begin at.
    pub directory: &'a Path,
    /// The store in which bots that are named without a SPEC are registered.
    pub store: Option<&'a Store>,
    /// The place where it is played, whatever the file says.
    pub on: Option<On>,
}

/// The shapes, with what each may say besides.
const SHAPES: &[(&str, &[&str])] = &[
    ("round-robin", &[]),
    ("gauntlet", &["challengers"]),
    ("swiss", &["rounds"]),
    ("single-elimination", &["third_place"]),
    ("double-elimination", &[]),
    ("ladder", &["rounds"]),
];

impl Planned {
    /// Reads a file and checks everything in it.
    ///
    /// # Errors
    ///
    /// [`TournamentError::Invalid`] says what was expected; the store fails.
    pub async fn read(path: &Path, context: Context<'_>) -> Result<Self, TournamentError> {
        let what = path.display();
        let text = read_input_text(path, LARGEST);
        let text = text.or_else(|error| usage(format!("{what}: {error}")))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let of_file = stem.chars().map(|c| if is_of_a_name(c) { c } else { '-' });
        let planned = Self::parse(&text, of_file.collect(), context).await;
        told_of(&what.to_string(), planned)
    }

    /// Reads a stream until its end and checks everything in it. `what` it is is said in errors;
    /// `name` is the tournament's name where the text says none.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read); nothing says a name.
    pub async fn read_stream(
        stream: impl io::Read,
        what: &str,
        name: Option<&str>,
        context: Context<'_>,
    ) -> Result<Self, TournamentError> {
        let planned = async {
            let text = read_stream_text(stream, LARGEST);
            let text = text.or_else(|error| usage(error.to_string()))?;
            let file: DefinitionFile =
                toml::from_str(&text).or_else(|error| usage(expected_words(&error.to_string())))?;
            let Some(name) = file.name.clone().or(name.map(str::to_owned)) else {
                return usage("expected a name: --name NAME, or name = \"NAME\" as its first line");
            };
            file.planned(name, context).await
        };
        told_of(what, planned.await)
    }

    /// Reads the text of a file and checks everything in it. `name` is the tournament's
    /// name where the text says none.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub async fn parse(
        text: &str,
        name: String,
        context: Context<'_>,
    ) -> Result<Self, TournamentError> {
        let file: DefinitionFile =
            toml::from_str(text).or_else(|error| usage(expected_words(&error.to_string())))?;
        let name = file.name.clone().unwrap_or(name);
        file.planned(name, context).await
    }

    /// Writes it into a store. Nothing of it has been played.
    ///
    /// # Errors
    ///
    /// There is a tournament of this name; the store fails.
    pub async fn create(
        &self,
        store: &Store,
        root: Root,
        reproduction: bool,
    ) -> Result<Tournament, TournamentError> {
        let entrants = self.entrants.clone();
        let now = unix_ms(SystemTime::now());
        let new = NewTournament {
            reproduction,
            ..(self.definition).tournament(&self.name, entrants, root, now)?
        };
        Ok(store.create(&new).await?)
    }

    /// True if a stored tournament was made from the same: the same bots are named, whatever their
    /// files are now.
    #[must_use]
    pub fn is_stored_as(&self, known: &Tournament) -> bool {
        let is_same = Definition::of(known).is_ok_and(|known| {
            let readmitted = BTreeMap::new();
            Definition {
                readmitted,
                ..known
            } == self.definition
        });
        let named = |entrant: &NewEntrant| NewEntrant {
            identity: None,
            ..entrant.clone()
        };
        let (known, own) = (known.entrants.iter(), self.entrants.iter());
        is_same && known.map(named).eq(own.map(named))
    }

    /// Gives it another name than its file does.
    ///
    /// # Errors
    ///
    /// It is no name of a tournament.
    pub fn rename(&mut self, name: &str) -> Result<(), TournamentError> {
        must_be_a_name("--name", name)?;
        name.clone_into(&mut self.name);
        Ok(())
    }
}

/// Adds `what`, the name of the file or stream, to an error in its text.
fn told_of<T>(what: &str, outcome: Result<T, TournamentError>) -> Result<T, TournamentError> {
    match outcome {
        Err(error) if error.is_usage() => usage(format!("{what}: {error}")),
        outcome => outcome,
    }
}

impl DefinitionFile {
    async fn planned(self, name: String, context: Context<'_>) -> Result<Planned, TournamentError> {
        must_be_a_name("name", &name)?;
        let kind = find_game(&self.game)?;
        let shape = self.shape()?;
        let kubernetes = self.on_kubernetes(context.on);
        let (entries, entrants) = self.entrants(kind, context, kubernetes).await?;
        let setups = self.setups(kind, context.directory, &entries)?;
        let checked_setups = Setups::new(kind, setups.clone())?;
        let mut seatings = self.seatings.unwrap_or_default();
        if !matches!(seatings, Seatings::Rotations | Seatings::All) {
            return usage("seatings: expected \"rotations\" or \"all\"");
        }
        let deals = self.deals.unwrap_or(match shape {
            ScheduleShape::RoundRobin {} | ScheduleShape::Gauntlet { .. } => DEALS,
            ScheduleShape::Swiss { .. }
            | ScheduleShape::Ladder { .. }
            | ScheduleShape::Listed { .. } => 2,
            ScheduleShape::SingleElimination { .. } | ScheduleShape::DoubleElimination {} => 3,
        });
        if needs_own_deals(kind, &entries) {
            seatings = Seatings::Single;
            let mut setups = 0..checked_setups.list().len() as u64;
            if setups.any(|deal| checked_setups.fixed(deal).is_some()) {
                return usage(
                    "the set-up fixes who is dealt what, and a bot that the arena does not start \
                     would know it the second time: use bots that the arena starts",
                );
            }
        }
        let filler = self.filler.clone().unwrap_or_else(|| FILLER.to_owned());
        let entry = Entry::read(&format!("filler={filler}"), context.schemes)
            .or_else(|error| usage(format!("filler: {error}")))?;
        entry.check_game(kind.info(), context.directory)?;
        if !entry.is_started_by_us() {
            return usage("filler: expected a bot that the arena starts, as in house:random");
        }
        if let Some(kubernetes) = kubernetes {
            kubernetes.check(entries.iter().chain([&entry]))?;
        }
        let standard = Limits::default();
        let memory_mib = self.limits.memory_mib;
        if memory_mib.is_some_and(|mib| !(1..=1 << 24).contains(&mib)) {
            return usage("limits.memory_mib: expected 1 to 16777216");
        }
        let limits = Limits {
            start: time("limits.start", self.limits.start.as_deref())?.unwrap_or(standard.start),
            per_move: time("limits.move", self.limits.per_move.as_deref())?
                .unwrap_or(standard.per_move),
            budget: time("limits.budget", self.limits.budget.as_deref())?,
            ..standard
        };
        let definition = Definition {
            game: kind.info().name.to_owned(),
            shape,
            deals,
            seatings,
            setups,
            limits,
            memory_mib,
            sprt: self.stop.sprt,
            patience: self.set_aside.rule(),
            away: self.set_aside.away()?,
            readmitted: BTreeMap::new(),
            filler,
            time: time("stop.time", self.stop.time.as_deref())?,
            logs: false,
            directory: context.directory.to_owned(),
            kubernetes,
        };
        // A schedule that is not possible is found now, not when bots have been started.
        definition.schedule(entrants.len(), [0; 32])?;
        Ok(Planned {
            name,
            definition,
            entrants,
            openings: self.openings,
        })
    }

    fn on_kubernetes(&self, on: Option<On>) -> Option<OnKubernetes> {
        let run = self.run.as_ref();
        match on.or(run.map(|run| run.on))? {
            On::Here => None,
            On::Kubernetes => Some(OnKubernetes {
                isolation: run.and_then(|run| run.isolation).unwrap_or_default(),
                games: run.and_then(|run| run.games),
            }),
        }
    }

    fn shape(&self) -> Result<ScheduleShape, TournamentError> {
        let names: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
        let Some((name, own)) = SHAPES.iter().find(|(name, _)| *name == self.shape) else {
            return usage(format!(
                "there is no shape \"{}\"{}; expected {}",
                self.shape,
                hint(&self.shape, &names),
                names.join(", ")
            ));
        };
        for (key, said) in [
            ("rounds", self.rounds.is_some()),
            ("challengers", self.challengers.is_some()),
            ("third_place", self.third_place.is_some()),
        ] {
            if said && !own.contains(&key) {
                return usage(format!("{key}: a {name} has no {key}"));
            }
        }
        Ok(match *name {
            "round-robin" => ScheduleShape::RoundRobin {},
            "gauntlet" => ScheduleShape::Gauntlet {
                challengers: self.challengers.unwrap_or(1),
            },
            "swiss" => ScheduleShape::Swiss {
                rounds: self.rounds,
            },
            "single-elimination" => ScheduleShape::SingleElimination {
                third_place: self.third_place.unwrap_or_default(),
            },
            "double-elimination" => ScheduleShape::DoubleElimination {},
            _ => ScheduleShape::Ladder {
                rounds: self.rounds,
            },
        })
    }

    fn setups(
        &self,
        kind: &dyn GameKind,
        directory: &Path,
        bots: &[Entry],
    ) -> Result<Vec<serde_json::Value>, TournamentError> {
        match (&self.setup, &self.openings) {
            (Some(_), Some(_)) => usage("expected setup or openings, found both"),
            (None, Some(file)) => read_openings(file, directory, kind),
            (Some(setup), None) => {
                let setup = kind.setup(setup);
                Ok(vec![
                    setup.or_else(|error| usage(format!("setup: {error}")))?,
                ])
            }
            (None, None) => Ok(vec![usual_setup(kind, bots)?]),
        }
    }

    /// The entrants; those without a SPEC are registered.
    async fn entrants(
        &self,
        kind: &dyn GameKind,
        context: Context<'_>,
        kubernetes: Option<OnKubernetes>,
    ) -> Result<(Vec<Entry>, Vec<NewEntrant>), TournamentError> {
        let most = MOST_ENTRANTS as usize;
        if self.bots.len() > most {
            return usage(format!(
                "bots: expected at most {most}, found {}",
                self.bots.len()
            ));
        }
        let mut entrants = Vec::new();
        for bot in &self.bots {
            let mut entrant = NewEntrant {
                name: bot.name.clone().unwrap_or_default(),
                spec: bot.bot.clone(),
                version: bot.version.clone().unwrap_or_default(),
                owner: bot.owner.clone(),
                identity: None,
            };
            if !Entry::is_spec(&bot.bot, context.schemes) {
                let registered = match context.store {
                    Some(store) => store.bot(&bot.bot).await?,
                    None => None,
                };
                let Some(BotRow { bot: known, .. }) = registered else {
                    return usage(format!(
                        "bots: \"{}\" is neither a SPEC (house:NAME, exec:COMMAND, grpc://HOST:PORT) \
                         nor a registered bot; `arena bots list` shows those",
                        bot.bot
                    ));
                };
                let plays = kind.info().name;
                if !known.games.is_empty() && !known.games.iter().any(|game| game == plays) {
                    return usage(format!(
                        "bots: {} is registered for {}, not for {plays}",
                        bot.bot,
                        known.games.join(", ")
                    ));
                }
                entrant.spec.clone_from(&known.spec);
                if entrant.version.is_empty() {
                    entrant.version = known.version;
                }
                entrant.owner = entrant.owner.or(known.owner);
                if entrant.name.is_empty() {
                    entrant.name = known.name;
                }
            }
            if entrant.version.is_empty() {
                NewEntrant::FIRST_VERSION.clone_into(&mut entrant.version);
            }
            must_be_a_line("version", &entrant.version)?;
            must_be_a_line("owner", entrant.owner.as_deref().unwrap_or("nobody"))?;
            entrants.push(entrant);
        }
        let texts: Vec<String> = entrants
            .iter()
            .map(|entrant| match &*entrant.name {
                "" => entrant.spec.clone(),
                name => format!("{name}={}", entrant.spec),
            })
            .collect();
        let entries = Entry::read_all(&texts, context.schemes).or_else(|error| match error {
            EntryError::NameTaken { name, .. } => usage(format!(
                "bots: two are called \"{name}\"; give each a line name = \"…\" of its own"
            )),
            error => Err(error.into()),
        })?;
        for (entry, entrant) in entries.iter().zip(&mut entrants) {
            entry.check_plays(kind.info())?;
            // On a cluster its nodes have the images.
            if kubernetes.is_none() {
                entry.check_files(context.directory)?;
            }
            entrant.name.clone_from(&entry.name);
            entrant.spec.clone_from(&entry.spec);
            let identity = entry.launcher().identity(context.directory);
            entrant.identity = identity.or_else(|error| usage(format!("bots: {error}")))?;
        }
        if entries.iter().any(|entry| entry.name.starts_with("filler")) {
            return usage(
                "bots: names that begin with \"filler\" are reserved for bots that fill seats",
            );
        }
        Ok((entries, entrants))
    }
}

impl Definition {
    /// A round robin of a game that begins with these set-ups, in turn. All else is as where a file
    /// does not say it, and commands are run in the folder of this process.
    #[must_use]
    pub fn round_robin(game: &str, setups: Vec<serde_json::Value>) -> Self {
        Self {
            game: game.to_owned(),
            shape: ScheduleShape::RoundRobin {},
            deals: DEALS,
            seatings: Seatings::Rotations,
            setups,
            limits: Limits::default(),
            memory_mib: None,
            sprt: None,
            patience: SetAsideRule::default(),
            away: AWAY_IN_MATCH,
            readmitted: BTreeMap::new(),
            filler: FILLER.to_owned(),
            time: None,
            logs: false,
            directory: ".".into(),
            kubernetes: None,
        }
    }

    /// The text of a file with this round robin of these bots. `openings` is the list of its
    /// set-ups, where they are from one. It sets bots aside by the usual rule. None for another
    /// shape, and for several set-ups without a list.
    #[must_use]
    pub fn file(&self, bots: &[Entry], openings: Option<&Path>) -> Option<String> {
        if self.shape != (ScheduleShape::RoundRobin {}) {
            return None;
        }
        let kind = self.kind().ok()?;
        let setup = match (&self.setups[..], openings) {
            (_, Some(_)) => None,
            ([one], None) => {
                let usual = usual_setup(kind, bots).ok()?;
                (*one != usual).then(|| without_nulls(one))
            }
            _ => return None,
        };
        let standard = Limits::default();
        let text = |time: Duration| humantime::format_duration(time).to_string();
        let unless = |time: Duration, usual: Duration| (time != usual).then(|| text(time));
        let bots = bots.iter().map(|bot| BotTable {
            name: Some(bot.name.clone()),
            bot: bot.spec.clone(),
            version: None,
            owner: None,
        });
        let file = DefinitionFile {
            name: None,
            game: game_name(&self.game),
            shape: "round-robin".to_owned(),
            rounds: None,
            challengers: None,
            third_place: None,
            deals: Some(self.deals),
            seatings: (self.seatings == Seatings::All).then_some(Seatings::All),
            setup,
            openings: openings.map(Path::to_owned),
            filler: (self.filler != FILLER).then(|| self.filler.clone()),
            limits: LimitsTable {
                per_move: unless(self.limits.per_move, standard.per_move),
                start: unless(self.limits.start, standard.start),
                budget: self.limits.budget.map(text),
                memory_mib: self.memory_mib,
            },
            stop: StopTable {
                sprt: self.sprt,
                time: self.time.map(text),
            },
            set_aside: SetAsideTable {
                away: unless(self.away, AWAY),
                ..SetAsideTable::default()
            },
            run: None,
            bots: bots.collect(),
        };
        toml::to_string(&file).ok()
    }

    /// The tournament of these entrants that a store is to create. It reproduces no other one.
    ///
    /// # Errors
    ///
    /// There is no such game.
    pub fn tournament(
        &self,
        name: &str,
        entrants: Vec<NewEntrant>,
        root: Root,
        created_unix_ms: i64,
    ) -> Result<NewTournament, TournamentError> {
        let info = self.kind()?.info();
        Ok(NewTournament {
            name: name.to_owned(),
            game: info.name.to_owned(),
            rules_version: info.rules_version,
            definition: serde_json::to_value(self).expect("a definition is JSON"),
            root,
            reproduction: false,
            entrants,
            created_unix_ms,
        })
    }

    /// The definition that the store keeps of a tournament.
    ///
    /// # Errors
    ///
    /// It was made by another version, or for another version of the rules.
    pub fn of(tournament: &Tournament) -> Result<Self, TournamentError> {
        let definition: Self =
            serde_json::from_value(tournament.definition.clone()).map_err(|error| {
                TournamentError::Inconsistent(format!(
                    "the store's definition of {} can't be read ({error})",
                    tournament.name
                ))
            })?;
        let rules = definition.kind()?.info().rules_version;
        if rules != tournament.rules_version {
            return usage(format!(
                "{} is played by version {} of the rules, and this arena has version {rules}: \
                 resume it with the arena that began it",
                tournament.name, tournament.rules_version
            ));
        }
        Ok(definition)
    }

    /// The game.
    ///
    /// # Errors
    ///
    /// There is none of this name.
    pub fn kind(&self) -> Result<&'static dyn GameKind, TournamentError> {
        find_game(&self.game)
    }

    /// True if a match goes on where it is tied after all its deals, so that there may be more
    /// deals than planned.
    pub fn breaks_ties(&self) -> bool {
        let two = self.kind().is_ok_and(|kind| kind.info().seats == 2);
        let elimination = matches!(
            self.shape,
            ScheduleShape::SingleElimination { .. } | ScheduleShape::DoubleElimination {}
        );
        two && elimination
    }

    /// The schedule, before anything has been played. `chance` decides what it leaves
    /// to chance ([`chance`]).
    ///
    /// # Errors
    ///
    /// The shape does not suit the number of entrants.
    pub fn schedule(
        &self,
        entrants: usize,
        chance: [u8; 32],
    ) -> Result<Box<dyn arena_ladder::Schedule>, TournamentError> {
        let field = Field {
            entrants: u32::try_from(entrants).unwrap_or(u32::MAX),
            seats: self.kind()?.info().seats,
            seatings: self.seatings,
            deals: self.deals,
            sprt: self.sprt,
            set_aside: self.patience,
            readmitted: self.readmitted.clone(),
            chance,
        };
        arena_ladder::schedule::schedule(&field, &self.shape)
            .or_else(|error| usage(error.to_string()))
    }
}

const fn standard_away() -> Duration {
    AWAY
}

fn is_standard_away(away: &Duration) -> bool {
    *away == AWAY
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A set-up without the parts that are null, which are as where they are absent: TOML has no null.
fn without_nulls(setup: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match setup {
        Value::Object(parts) => {
            let parts = parts.iter().filter(|(_, part)| !part.is_null());
            let parts = parts.map(|(key, part)| (key.clone(), without_nulls(part)));
            Value::Object(parts.collect())
        }
        other => other.clone(),
    }
}

/// True if every game needs a deal of its own: in a game with secrets a bot that the arena does not
/// start would remember a deal from one seating to the next.
pub fn needs_own_deals<'a>(kind: &dyn GameKind, bots: impl IntoIterator<Item = &'a Entry>) -> bool {
    kind.has_secrets() && !bots.into_iter().all(Entry::is_started_by_us)
}

/// The seed of all that a schedule leaves to chance: SHA-256("bot-arena schedule v1" ‖ root). It
/// tells nothing about a deal.
pub fn chance(root: &Root) -> [u8; 32] {
    Sha256::new()
        .chain_update(b"bot-arena schedule v1")
        .chain_update(root.reveal())
        .finalize()
        .into()
}

/// A tournament's name is a folder's too.
pub(crate) fn must_be_a_name(what: &str, name: &str) -> Result<(), TournamentError> {
    let begins = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if !begins || name.chars().count() > 60 || !name.chars().all(is_of_a_name) {
        return usage(format!(
            "{what}: expected 1 to 60 letters, digits, dots, hyphens and underscores, the first \
             no dot or hyphen, found \"{}\"",
            printable(name)
        ));
    }
    Ok(())
}

/// A text that tables show.
pub(crate) fn must_be_a_line(what: &str, text: &str) -> Result<(), TournamentError> {
    let length = text.chars().count();
    if !(1..=LONGEST_LINE).contains(&length) || !text.chars().all(is_printable) {
        return usage(format!(
            "{what}: expected 1 to {LONGEST_LINE} characters in one line, without control \
             characters, found \"{}\"",
            printable(text)
        ));
    }
    Ok(())
}

/// Checks the SPEC of a bot that has played elsewhere: it need not be possible here.
pub(crate) fn must_be_a_spec(what: &str, text: &str) -> Result<(), TournamentError> {
    if text.is_empty() || text.len() > LONGEST_SPEC || !Entry::is_shown(text) {
        return usage(format!(
            "{what}: expected 1 to {LONGEST_SPEC} bytes without control characters"
        ));
    }
    Ok(())
}

fn time(what: &str, text: Option<&str>) -> Result<Option<Duration>, TournamentError> {
    text.map(|text| parse_limit(text).or_else(|why| usage(format!("{what}: {why}"))))
        .transpose()
}

/// Reads a list of openings from a file; a relative path begins at `directory`.
///
/// # Errors
///
/// The file can't be read, or a line of it is no opening.
pub fn read_openings(
    file: &Path,
    directory: &Path,
    kind: &dyn GameKind,
) -> Result<Vec<serde_json::Value>, TournamentError> {
    let what = format!("openings {}", file.display());
    let text = read_input_text(&directory.join(file), LARGEST_OPENINGS);
    let text = text.or_else(|error| usage(format!("{what}: {error}")))?;
    openings(&what, &text, kind)
}

/// A length of time that a limit can be: more than none, and at most a year.
///
/// # Errors
///
/// What was expected.
pub fn parse_limit(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if time.is_zero() => Err("expected a time above 0".to_owned()),
        Ok(time) if time > Limits::LONGEST => Err("expected at most a year".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(format!(
            "expected a length of time such as 3s or 200ms ({error})"
        )),
    }
}

/// The game of this name, as in `connect-four` or `connect_four`.
///
/// # Errors
///
/// There is none; it says which there are.
pub fn find_game(name: &str) -> Result<&'static dyn GameKind, TournamentError> {
    if let Some(kind) = referee_games::game(name) {
        return Ok(kind);
    }
    let known: Vec<String> = GAMES
        .iter()
        .map(|kind| game_name(kind.info().name))
        .collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    usage(format!(
        "there is no game \"{name}\"{}; expected {}",
        hint(name, &known),
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A definition as a match has it, its bots, and what its file is read as.
    async fn read_again(definition: &Definition, openings: Option<&Path>) -> (String, Planned) {
        let schemes = Schemes::with(Vec::new());
        let bots = ["new=exec:true 'a \"b\"'", "old=exec:true"].map(str::to_owned);
        let bots = Entry::read_all(&bots, &schemes).unwrap();
        let text = definition.file(&bots, openings).unwrap();
        let context = Context {
            schemes: &schemes,
            directory: &definition.directory,
            store: None,
            on: None,
        };
        let planned = Planned::parse(&text, "sprt".to_owned(), context).await;
        let planned = planned.unwrap_or_else(|error| panic!("{error}: {text}"));
        let read = planned.entrants.iter().zip(&bots);
        for (entrant, bot) in read {
            assert_eq!((&entrant.name, &entrant.spec), (&bot.name, &bot.spec));
        }
        (text, planned)
    }

    #[tokio::test]
    async fn a_match_is_written_as_a_file_that_is_read_as_the_same() {
        for (game, setup) in [
            ("connect_four", "{}"),
            (
                "connect_four",
                r#"{"rows":9,"columns":9,"forbidden":{"at":{"x":4,"y":4}}}"#,
            ),
            ("othello", "{}"),
            ("othello", r#"{"moves":"f5d6c3"}"#),
            ("mahjong", r#"{"missing_suit":"free"}"#),
        ] {
            let setup = serde_json::from_str(setup).unwrap();
            let setup = find_game(game).unwrap().setup(&setup).unwrap();
            let mut definition = Definition {
                filler: "exec:true".to_owned(),
                ..Definition::round_robin(game, vec![setup])
            };
            let (text, planned) = read_again(&definition, None).await;
            assert_eq!(planned.definition, definition, "{text}");
            assert!(
                !text.contains("[limits]") && !text.contains("[stop]"),
                "{text}"
            );
            definition.deals = 5000;
            definition.limits.per_move = Duration::from_millis(1500);
            definition.memory_mib = Some(64);
            definition.sprt = Some("elo0=-2.5 elo1=10".parse().unwrap());
            let (text, planned) = read_again(&definition, None).await;
            assert_eq!(planned.definition, definition, "{text}");
        }
    }

    #[test]
    fn a_limit_is_more_than_no_time_and_at_most_a_year() {
        assert_eq!(parse_limit("365days"), Ok(Duration::from_hours(8760)));
        for wrong in ["0s", "366days", "500000000000years", "soon"] {
            let why = parse_limit(wrong).unwrap_err();
            assert!(why.starts_with("expected "), "{wrong}: {why}");
        }
    }
}
