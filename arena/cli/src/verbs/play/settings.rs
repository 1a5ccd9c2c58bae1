//! What is decided before a game: in any order, and as often as somebody likes.

use std::time::Duration;

use arena_play::{Player, Seating, setup_parts, setup_with};
use arena_tournament::parse_limit;
use referee_core::{Dice, GameKind, Limits, Root, Seat};
use referee_worker::Entry;
use serde_json::{Value, json};

use super::{
    input::{Input, Typed},
    words::{self, Language},
};
use crate::{bots::schemes, draw::Signs, report, usage};

/// What came of the questions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    Start,
    Left,
}

/// Who the others are.
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
    /// Whether people are bound by it too.
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
            .filter(|c| referee_worker::is_of_a_name(*c))
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

    /// A whole set-up, as JSON.
    pub(super) fn set_up(&mut self, text: &str) -> anyhow::Result<()> {
        let setup: Value = serde_json::from_str(text)
            .or_else(|error| usage(words::no_json(self.language, &error.to_string())))?;
        self.kind.setup(&setup)?;
        self.setup = setup;
        Ok(())
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
    fn keys(&self) -> Vec<String> {
        setup_parts(self.kind).into_iter().map(|(key, _)| key).collect()
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
                    report::text(&words::rules(language, self.kind.info()))?;
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

    fn show(&self) -> anyhow::Result<()> {
        let language = self.language;
        let others = match &self.others {
            Others::People => words::people(language).to_owned(),
            Others::Bots(bots) => {
                let specs: Vec<&str> = bots.iter().map(|bot| &*bot.spec).collect();
                specs.join(" ")
            }
        };
        let disc = match self.seat {
            Some(seat) if self.kind.info().seats == 2 && !self.kind.has_secrets() => {
                format!(" ({})", self.signs.disc(Seat::new(seat)))
            }
            _ => String::new(),
        };
        let seat = match self.seat {
            None => words::drawn(language).to_owned(),
            Some(seat) => format!("{seat}{disc}"),
        };
        let mut rows = vec![
            ("seat".to_owned(), seat),
            ("against".to_owned(), others),
            (
                "limit".to_owned(),
                humantime::format_duration(self.limit).to_string(),
            ),
        ];
        let full = self.kind.setup(&self.setup)?;
        for (key, value) in full.as_object().into_iter().flatten() {
            let shown = match value {
                Value::Null => words::drawn(language).to_owned(),
                Value::String(word) if word == "random" => words::drawn(language).to_owned(),
                Value::String(word) => word.clone(),
                other => other.to_string(),
            };
            rows.push((key.clone(), shown));
        }
        if let Some(seed) = &self.seed {
            rows.push(("seed".to_owned(), seed.clone()));
        }
        for (name, value) in rows {
            report::text(&format!("  {name:<12} {}\n", report::shorten(&value, 60)))?;
        }
        Ok(())
    }

    /// Who sits where, and what is dealt.
    pub(super) fn seating(&self, root: &Root) -> Seating {
        let info = self.kind.info();
        let seed = root.seed(info.name, 0);
        let mine = self.seat.unwrap_or_else(|| {
            let other = root.seed("seat", 0);
            Dice::new(&other).below(info.seats.into()) as u8
        });
        let mut next = 0;
        let players = (0..info.seats).map(|seat| match &self.others {
            _ if seat == mine => Player::Person(self.name.clone()),
            Others::People => Player::Person(words::guest(self.language, seat)),
            Others::Bots(bots) => {
                let bot = &bots[next % bots.len()];
                next += 1;
                Player::Bot(match bots.len() == 1 && info.seats > 2 {
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
