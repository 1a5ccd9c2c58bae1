//! A tournament as a person writes it, a TOML file, and what it means once it has
//! been looked at: a definition, which the store keeps.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use arena_ladder::{Field, ScheduleShape, Seatings, SetAsideRule, Sprt};
use arena_store::{BotRow, NewEntrant, Store};
use referee_core::{GameKind, Limits, Root};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    entry::Entry,
    run::positive_duration,
    setups::{self, Setups},
    usage,
    verbs::find_game,
};

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
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
    #[serde(default)]
    limits: LimitsTable,
    #[serde(default)]
    stop: StopTable,
    #[serde(default)]
    set_aside: SetAsideRule,
    bots: Vec<BotTable>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    #[serde(rename = "move")]
    per_move: Option<String>,
    start: Option<String>,
    budget: Option<String>,
    memory_mib: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StopTable {
    sprt: Option<Sprt>,
    time: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BotTable {
    name: Option<String>,
    bot: String,
    version: Option<String>,
    owner: Option<String>,
}

/// What a tournament is, apart from who takes part: all that must be the same
/// when it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Definition {
    pub(crate) game: String,
    pub(crate) shape: ScheduleShape,
    pub(crate) deals: u64,
    pub(crate) seatings: Seatings,
    pub(crate) setups: Vec<serde_json::Value>,
    pub(crate) limits: Limits,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory_mib: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sprt: Option<Sprt>,
    pub(crate) patience: SetAsideRule,
    /// Who takes the seats that nobody has.
    pub(crate) filler: String,
    /// How long a run goes on before it stops as if it had been asked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<Duration>,
    /// Where commands of bots are run from.
    pub(crate) directory: PathBuf,
}

/// A definition, and who takes part.
pub(crate) struct Planned {
    pub(crate) name: String,
    pub(crate) definition: Definition,
    pub(crate) entrants: Vec<NewEntrant>,
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
    /// Reads a file and looks at everything in it. Bots that are named without a
    /// SPEC are looked up in the store.
    pub(crate) async fn read(path: &Path, store: Option<&Store>) -> anyhow::Result<Self> {
        let what = path.display();
        let text = fs::read_to_string(path).or_else(|error| usage(format!("{what}: {error}")))?;
        let file: File =
            toml::from_str(&text).or_else(|error| usage(format!("{what}: {error}")))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let of_file = || {
            stem.chars()
                .map(|c| if is_good(c) { c } else { '-' })
                .collect()
        };
        let name = file.name.clone().unwrap_or_else(of_file);
        match file.planned(name, store).await {
            Err(error) if error.is::<crate::Usage>() => usage(format!("{what}: {error:#}")),
            planned => planned,
        }
    }
}

impl Planned {
    /// Calls it otherwise than its file does.
    pub(crate) fn called(&mut self, name: &str) -> anyhow::Result<()> {
        must_be_a_name("--name", name)?;
        name.clone_into(&mut self.name);
        Ok(())
    }
}

impl File {
    async fn planned(self, name: String, store: Option<&Store>) -> anyhow::Result<Planned> {
        must_be_a_name("name", &name)?;
        let kind = find_game(&self.game)?;
        let shape = self.shape()?;
        let setups = self.setups(kind)?;
        let looked_at =
            Setups::new(kind, setups.clone()).or_else(|error| usage(format!("setup: {error}")))?;
        let (entries, entrants) = self.entrants(kind, store).await?;
        let mut seatings = self.seatings.unwrap_or_default();
        if seatings == Seatings::Single {
            return usage("seatings: expected \"rotations\" or \"all\"");
        }
        let deals = self.deals.unwrap_or(match shape {
            ScheduleShape::RoundRobin {} | ScheduleShape::Gauntlet { .. } => 10,
            ScheduleShape::Swiss { .. } | ScheduleShape::Ladder { .. } => 2,
            ScheduleShape::SingleElimination { .. } | ScheduleShape::DoubleElimination {} => 3,
        });
        if kind.has_secrets() && !entries.iter().all(Entry::is_ours_to_start) {
            anstream::eprintln!(
                "note: a bot that the arena does not start would remember a deal from one \
                 seating to the next, so every game has a deal of its own and counts by itself"
            );
            seatings = Seatings::Single;
            if (0..looked_at.list().len() as u64).any(|deal| looked_at.fixed(deal).is_some()) {
                return usage(
                    "the set-up says who is dealt what, and a bot that the arena does not start \
                     would know it the second time: expected bots that the arena starts",
                );
            }
        }
        let filler = self.filler.clone().unwrap_or_else(|| "house:random".into());
        let entry = Entry::read(&format!("filler={filler}"))
            .or_else(|error| usage(format!("filler: {error}")))?;
        entry.must_play(kind.info())?;
        if !entry.is_ours_to_start() {
            return usage("filler: expected a bot that the arena starts, as in house:random");
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
            patience: self.set_aside,
            filler,
            time: time("stop.time", self.stop.time.as_deref())?,
            directory: std::env::current_dir()?,
        };
        // A schedule that can't be is found now, not when bots have been started.
        definition.schedule(entrants.len(), [0; 32])?;
        Ok(Planned {
            name,
            definition,
            entrants,
        })
    }

    fn shape(&self) -> anyhow::Result<ScheduleShape> {
        let names: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
        let Some((name, own)) = SHAPES.iter().find(|(name, _)| *name == self.shape) else {
            let meant = house_bots::closest(&self.shape, &names)
                .map_or_else(String::new, |like| format!(" (did you mean {like}?)"));
            return usage(format!(
                "there is no shape \"{}\"{meant}; expected {}",
                self.shape,
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

    fn setups(&self, kind: &dyn GameKind) -> anyhow::Result<Vec<serde_json::Value>> {
        match (&self.setup, &self.openings) {
            (Some(_), Some(_)) => usage("expected setup or openings, found both"),
            (None, Some(file)) => setups::openings(file, kind),
            (setup, None) => {
                let setup = setup.clone().unwrap_or_default();
                let setup = kind
                    .setup(&setup)
                    .or_else(|error| usage(format!("setup: {error}")))?;
                Ok(vec![setup])
            }
        }
    }

    /// Who takes part; those without a SPEC are registered.
    async fn entrants(
        &self,
        kind: &dyn GameKind,
        store: Option<&Store>,
    ) -> anyhow::Result<(Vec<Entry>, Vec<NewEntrant>)> {
        let mut entrants = Vec::new();
        for bot in &self.bots {
            let mut entrant = NewEntrant {
                name: bot.name.clone().unwrap_or_default(),
                spec: bot.bot.clone(),
                version: bot.version.clone().unwrap_or_default(),
                owner: bot.owner.clone(),
            };
            if !Entry::is_spec(&bot.bot) {
                let registered = match store {
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
                entrant.version = "1".to_owned();
            }
            entrants.push(entrant);
        }
        let texts: Vec<String> = entrants
            .iter()
            .map(|entrant| match &*entrant.name {
                "" => entrant.spec.clone(),
                name => format!("{name}={}", entrant.spec),
            })
            .collect();
        let entries = Entry::read_all(&texts)?;
        for (entry, entrant) in entries.iter().zip(&mut entrants) {
            entry.must_play(kind.info())?;
            entrant.name.clone_from(&entry.name);
        }
        let names: BTreeSet<&str> = entries.iter().map(|entry| &*entry.name).collect();
        if names.iter().any(|name| name.starts_with("filler")) {
            return usage(
                "bots: names that begin with \"filler\" are kept for those who fill seats",
            );
        }
        Ok((entries, entrants))
    }
}

impl Definition {
    /// The game.
    pub(crate) fn kind(&self) -> anyhow::Result<&'static dyn GameKind> {
        find_game(&self.game)
    }

    /// Whether a match goes on where it is tied after all its deals, so that
    /// there may be more deals than planned.
    pub(crate) fn breaks_ties(&self) -> bool {
        let two = self.kind().is_ok_and(|kind| kind.info().seats == 2);
        let elimination = matches!(
            self.shape,
            ScheduleShape::SingleElimination { .. } | ScheduleShape::DoubleElimination {}
        );
        two && elimination
    }

    /// What a schedule is made with.
    fn field(&self, entrants: usize, chance: [u8; 32]) -> anyhow::Result<Field> {
        Ok(Field {
            entrants: u32::try_from(entrants)?,
            seats: self.kind()?.info().seats,
            seatings: self.seatings,
            deals: self.deals,
            sprt: self.sprt,
            set_aside: self.patience,
            chance,
        })
    }

    /// The schedule, before anything has been played.
    pub(crate) fn schedule(
        &self,
        entrants: usize,
        chance: [u8; 32],
    ) -> anyhow::Result<Box<dyn arena_ladder::Schedule>> {
        let field = self.field(entrants, chance)?;
        arena_ladder::schedule::schedule(&field, &self.shape)
            .or_else(|error| usage(error.to_string()))
    }
}

/// What a schedule leaves to chance: SHA-256("bot-arena schedule v1" ‖ root). It
/// tells nothing about a deal.
pub(crate) fn chance(root: &Root) -> [u8; 32] {
    Sha256::new()
        .chain_update(b"bot-arena schedule v1")
        .chain_update(root.reveal())
        .finalize()
        .into()
}

/// What a name may consist of.
fn is_good(c: char) -> bool {
    c.is_alphanumeric() || "._-".contains(c)
}

/// A tournament's name is a folder's too.
fn must_be_a_name(what: &str, name: &str) -> anyhow::Result<()> {
    let begins = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if !begins || name.chars().count() > 60 || !name.chars().all(is_good) {
        return usage(format!(
            "{what}: expected 1 to 60 letters, digits, dots, hyphens and underscores, the first \
             no dot or hyphen, found \"{name}\""
        ));
    }
    Ok(())
}

fn time(what: &str, text: Option<&str>) -> anyhow::Result<Option<Duration>> {
    text.map(|text| positive_duration(text).or_else(|why| usage(format!("{what}: {why}"))))
        .transpose()
}
