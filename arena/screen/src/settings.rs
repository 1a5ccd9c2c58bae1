//! Settings that are chosen before a game: in any order, and as often as somebody likes.

use std::time::Duration;

use arena_play::{SeatPlayer, Seating, setup_parts, setup_with};
use arena_terminal::{draw::Signs, report};
use arena_tournament::parse_limit;
use house_bots::HOUSE;
use referee_bots::Entry;
use referee_cli::{bots::schemes, usage};
use referee_core::{Dice, GameKind, Language, Limits, Root, Seat};
use serde_json::{Value, json};

use super::{
    input::{Input, Typed},
    words,
};

/// Name of the setting by which people are bound by the limit, too.
const TIMED: &str = "timed";

/// Name of the setting that is a whole set-up in one line.
pub(super) const SETUP: &str = "setup";

/// Result of the questions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    Start,
    Left,
}

/// A setting as it is shown.
pub(super) struct Setting {
    pub(super) name: String,
    /// As it is typed.
    pub(super) value: String,
    /// Remark on the value, behind it.
    pub(super) remark: String,
    /// Values to choose from; others may be typed.
    pub(super) choices: Vec<String>,
}

impl Setting {
    fn new(name: &str, value: &str, choices: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            value: value.to_owned(),
            remark: String::new(),
            choices: choices.iter().map(|&choice| choice.to_owned()).collect(),
        }
    }
}

/// The other players.
#[derive(Clone)]
enum Others {
    Bots(Vec<Entry>),
    People,
}

pub(super) struct Settings {
    kind: &'static dyn GameKind,
    language: Language,
    signs: Signs,
    name: String,
    others: Others,
    /// None is drawn.
    seat: Option<u8>,
    /// As it was given: what is not there is drawn.
    setup: Value,
    pub(super) limit: Duration,
    /// True if people are bound by it too.
    pub(super) is_timed: bool,
    pub(super) seed: Option<String>,
}

impl Settings {
    pub(super) fn new(
        kind: &'static dyn GameKind,
        language: Language,
        signs: Signs,
        name: &str,
    ) -> anyhow::Result<Self> {
        let mut name: String = name
            .chars()
            .filter(|c| referee_bots::is_of_a_name(*c))
            .collect();
        if name.is_empty() {
            "you".clone_into(&mut name);
        }
        let best = format!("house:{}", house_bots::best(kind.info()));
        Ok(Self {
            kind,
            language,
            signs,
            name,
            others: Others::Bots(vec![Entry::read(&best, &schemes()?)?]),
            seat: Some(0),
            setup: json!({}),
            limit: Limits::default().per_move,
            is_timed: false,
            seed: None,
        })
    }

    /// The settings that a game was begun with.
    pub(super) fn of_game(&mut self, seating: &Seating) {
        let people = (seating.players.iter().zip(0..)).filter_map(|(player, seat)| match player {
            SeatPlayer::Person(name) => Some((seat, name)),
            SeatPlayer::Bot(_) => None,
        });
        if let Some((seat, name)) = people.clone().next() {
            self.seat = Some(seat);
            self.name.clone_from(name);
        }
        let bots = seating.players.iter().filter_map(|player| match player {
            SeatPlayer::Person(_) => None,
            SeatPlayer::Bot(entry) => Some(entry.clone()),
        });
        self.others = match people.count() {
            1 => Others::Bots(bots.collect()),
            _ => Others::People,
        };
        self.setup = seating.setup.clone();
        self.limit = seating.limits.per_move;
        self.is_timed = seating.people_are_timed;
    }

    pub(super) const fn kind(&self) -> &'static dyn GameKind {
        self.kind
    }

    /// Bots in the other seats.
    pub(super) fn against<T: AsRef<str>>(&mut self, specs: &[T]) -> anyhow::Result<()> {
        let others = usize::from(self.kind.info().seats) - 1;
        if specs.len() != 1 && specs.len() != others {
            return usage(words::wrong_number_of_bots(
                self.language,
                others,
                specs.len(),
            ));
        }
        let entries = Entry::read_all(specs, &schemes()?)?;
        let directory = std::env::current_dir()?;
        for entry in &entries {
            entry.check_game(self.kind.info(), &directory)?;
        }
        self.others = Others::Bots(entries);
        Ok(())
    }

    /// A whole set-up.
    pub(super) fn set_up(&mut self, text: &str) -> anyhow::Result<()> {
        self.setup = (self.kind.opening(text))
            .or_else(|error| usage(words::no_setup(self.language, &error.to_string())))?;
        Ok(())
    }

    /// The set-up that a bot needs, where one does.
    pub(super) fn usual_setup(&self) -> Option<&'static str> {
        match &self.others {
            Others::Bots(bots) => Entry::usual_setup(bots),
            Others::People => None,
        }
    }

    /// One setting.
    pub(super) fn set(&mut self, name: &str, value: &str) -> anyhow::Result<()> {
        let seats = self.kind.info().seats;
        match name {
            "seat" => {
                self.seat = match value {
                    "random" | "随机" => None,
                    seat => match seat.parse() {
                        Ok(seat) if seat < seats => Some(seat),
                        _ => return usage(words::no_seat(self.language, value, seats)),
                    },
                };
            }
            "against" if matches!(value, "people" | "真人") => self.others = Others::People,
            "against" => {
                let specs: Vec<&str> = value.split_whitespace().collect();
                self.against(&specs)?;
            }
            "limit" => match parse_limit(value) {
                Ok(limit) => self.limit = limit,
                Err(error) => return usage(error.to_string()),
            },
            TIMED => match value.to_lowercase().as_str() {
                "yes" | "true" | "是" => self.is_timed = true,
                "no" | "false" | "否" => self.is_timed = false,
                _ => return usage(words::neither_yes_nor_no(self.language, value)),
            },
            // Of a form, in which the parts are too.
            SETUP if value.is_empty() => {}
            SETUP => self.setup = self.kind.opening(value)?,
            "seed" if value.is_empty() => self.seed = None,
            "seed" => {
                if let Err(error) = value.parse::<Root>() {
                    return usage(error.to_string());
                }
                self.seed = Some(value.to_owned());
            }
            key if self.keys().iter().any(|known| known == key) => self.part(key, value)?,
            _ => return usage(words::no_setting(self.language, name, &self.keys())),
        }
        Ok(())
    }

    /// The parts of a set-up that people set.
    pub(super) fn keys(&self) -> Vec<String> {
        setup_parts(self.kind)
            .into_iter()
            .map(|(key, _)| key)
            .collect()
    }

    /// A part of the set-up, in one of the forms that its rules read.
    fn part(&mut self, key: &str, value: &str) -> anyhow::Result<()> {
        self.setup = setup_with(self.kind, &self.setup, key, value)?;
        Ok(())
    }

    /// Shows the settings, and asks until somebody wants to begin.
    pub(super) async fn ask(&mut self, input: &mut Input) -> anyhow::Result<Settled> {
        let language = input.language();
        self.show()?;
        report::line(words::how_to_set(language))?;
        loop {
            let line = match input.ask("").await? {
                Typed::Line(line) => line,
                Typed::End | Typed::Interrupt => return Ok(Settled::Left),
            };
            let (name, value) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
            match (&*name.to_lowercase(), value.trim()) {
                ("" | "start" | "开始", "") => return Ok(Settled::Start),
                ("quit" | "exit" | "退出", "") => return Ok(Settled::Left),
                ("rules" | "规则", "") => {
                    report::text(&words::printed_rules(language, self.kind.info()))?;
                }
                ("bots" | "机器人", "") => {
                    report::text(&words::bots(language, self.kind.info()))?;
                }
                ("help" | "?" | "帮助", "") => {
                    report::text(&words::settings_help(language, &self.keys()))?;
                }
                (name, "") => {
                    report::line(&words::no_value(language, name, &self.keys()))?;
                }
                (name, value) => match self.set(words::setting(name), value) {
                    Ok(()) => self.show()?,
                    Err(error) => report::line(&format!("{error:#}"))?,
                },
            }
        }
    }

    /// Every setting, in the order in which they are shown.
    pub(super) fn all(&self) -> anyhow::Result<Vec<Setting>> {
        let language = self.language;
        let info = self.kind.info();
        let drawn = words::drawn(language);
        let seats = (0..info.seats).map(|seat| seat.to_string());
        let seat = Setting {
            name: "seat".to_owned(),
            value: self.seat.map_or(drawn.to_owned(), |seat| seat.to_string()),
            remark: match self.seat {
                Some(seat) if info.seats == 2 && !self.kind.has_secrets() => {
                    format!(" ({})", self.signs.disc(Seat::new(seat)))
                }
                _ => String::new(),
            },
            choices: seats.chain([drawn.to_owned()]).collect(),
        };
        let people = words::people(language);
        let (value, remark) = match &self.others {
            Others::People => (people.to_owned(), words::at_this_terminal(language)),
            Others::Bots(bots) => {
                let specs: Vec<&str> = bots.iter().map(|bot| &*bot.spec).collect();
                (specs.join(" "), "")
            }
        };
        let bots = HOUSE.iter().filter(|bot| bot.games.include(info.name));
        let bots = bots.map(|bot| format!("house:{}", bot.name));
        let against = Setting {
            name: "against".to_owned(),
            value,
            remark: remark.to_owned(),
            choices: bots.chain([people.to_owned()]).collect(),
        };
        let limit = humantime::format_duration(self.limit).to_string();
        let yes_or_no = [false, true].map(|yes| words::yes_or_no(language, yes));
        let mut all = vec![
            seat,
            against,
            Setting::new("limit", &limit, &[]),
            Setting::new(TIMED, yes_or_no[usize::from(self.is_timed)], &yes_or_no),
        ];
        // What it sets is in the parts.
        all.push(Setting::new(SETUP, "", &[]));
        let full = self.kind.setup(&self.setup)?;
        let parts = setup_parts(self.kind);
        for (key, value) in full.as_object().into_iter().flatten() {
            let is_drawn = |value: &Value| value.is_null() || value == "random";
            let shown = match value {
                value if is_drawn(value) => drawn.to_owned(),
                Value::String(word) => word.clone(),
                other => other.to_string(),
            };
            let standard = parts.iter().find(|(part, _)| part == key);
            let choices: &[&str] = match standard {
                Some((_, Value::Bool(_))) => &["true", "false"],
                Some((_, standard)) if is_drawn(standard) => &[drawn],
                _ => &[],
            };
            all.push(Setting::new(key, &shown, choices));
        }
        all.push(Setting::new(
            "seed",
            self.seed.as_deref().unwrap_or_default(),
            &[],
        ));
        Ok(all)
    }

    fn show(&self) -> anyhow::Result<()> {
        for setting in self.all()? {
            let Setting {
                name,
                value,
                remark,
                ..
            } = &setting;
            // What is not set, and need not be, is not shown.
            if value.is_empty() || (name == TIMED && !self.is_timed) {
                continue;
            }
            let value = referee_core::shorten(&format!("{value}{remark}"), 60);
            report::text(&format!("  {name:<12} {value}\n"))?;
        }
        Ok(())
    }

    /// The players by seat, and the deal.
    pub(super) fn seating(&self, root: &Root) -> Seating {
        let info = self.kind.info();
        let seed = root.seed(info.name, 0);
        let mine = self.seat.unwrap_or_else(|| {
            let other = root.seed("seat", 0);
            Dice::new(&other).below(info.seats.into()) as u8
        });
        let mut next = 0;
        let players = (0..info.seats).map(|seat| match &self.others {
            _ if seat == mine => SeatPlayer::Person(self.name.clone()),
            Others::People => SeatPlayer::Person(words::guest(self.language, seat)),
            Others::Bots(bots) => {
                let bot = &bots[next % bots.len()];
                next += 1;
                SeatPlayer::Bot(match bots.len() == 1 && info.seats > 2 {
                    true => bot.renamed(format!("{}-{next}", bot.name)),
                    false => bot.clone(),
                })
            }
        });
        Seating {
            kind: self.kind,
            setup: self.setup.clone(),
            seed,
            game_id: format!("{}-{}", info.name.replace('_', "-"), self.name),
            limits: Limits {
                per_move: self.limit,
                ..Limits::default()
            },
            people_are_timed: self.is_timed,
            players: players.collect(),
        }
    }
}
