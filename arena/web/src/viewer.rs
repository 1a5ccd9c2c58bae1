//! A game that is over, move by move: as a page shows it, and as the script steps through it.

use std::collections::HashMap;

use arena_draw::{Look, Picture, spoken};
use maud::{Markup, PreEscaped, html};
use referee_core::{Foul, FoulWords, GameKind, Record, Scene, Seat, SeatFoul, Verdict, printable};
use referee_games::{Knowledge, Moment, game, replay};
use serde::Serialize;

use crate::{
    ended::Ended,
    error::PageError,
    evaluation::{self, Analysis},
    language::Language,
};

/// The prefix of the picture's ids.
pub(crate) const PREFIX: &str = "p-";

/// A game that is over.
pub(crate) struct ViewedGame {
    pub(crate) record: Record,
    pub(crate) kind: &'static dyn GameKind,
    pub(crate) moments: Vec<Moment>,
    last: Scene,
    ended: Ended,
    /// The seat whose owner is shown it; none where everybody is.
    owner: Option<Seat>,
}

/// The position that is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ViewedPosition {
    /// After so many moves.
    pub(crate) ply: Option<usize>,
    /// As this seat knew it; none with all hands.
    pub(crate) seat: Option<Seat>,
}

/// All positions of a game for the script. A part that is in several pictures is sent once.
#[derive(Serialize)]
pub(crate) struct Frames {
    parts: Vec<String>,
    frames: Vec<FrameOfGame>,
}

#[derive(Serialize)]
struct FrameOfGame {
    width: u32,
    height: u32,
    /// Indices into the parts.
    parts: Vec<usize>,
    /// The position for screen readers.
    spoken: String,
}

impl ViewedGame {
    pub(crate) fn of(record: Record) -> Result<Self, PageError> {
        let kind = game(&record.header.game).ok_or_else(|| {
            PageError::NotFound(format!("there is no game \"{}\" here", record.header.game))
        })?;
        let mut moments = Vec::new();
        let end = replay(&record, |moment| moments.push(moment))
            .map_err(|error| PageError::NotFound(format!("the record does not replay: {error}")))?;
        let ended = Ended::of(&record, &end.ending().cloned().unwrap_or_default());
        Ok(Self {
            record,
            kind,
            moments,
            last: end.scene(),
            ended,
            owner: None,
        })
    }

    /// A game for whoever owns a seat of it. Where hands are hidden it has this seat's moves alone,
    /// and the table before each of them as the seat knew it: that another seat was asked for a move
    /// may tell of its hand.
    pub(crate) fn of_seat(record: Record, seat: Seat) -> Result<Self, PageError> {
        let mut game = Self::of(record)?;
        game.owner = Some(seat);
        if let Some(seat) = game.only_sight() {
            game.moments.retain(|moment| moment.seat == seat);
        }
        Ok(game)
    }

    /// The one seat as which it may be seen; none where it may be seen as any.
    fn only_sight(&self) -> Option<Seat> {
        self.owner.filter(|_| self.kind.has_secrets())
    }

    /// The fouls of bots, each as its author reads it; of a seat's owner those of this seat.
    fn fouls(&self, language: Language) -> Markup {
        let fouls = match &self.record.result.verdict {
            Verdict::Finished { fouls, .. } => &fouls[..],
            Verdict::Void { .. } => &[],
        };
        html! {
            @for SeatFoul { seat, foul } in fouls.iter()
                .filter(|one| one.foul != Foul::Resigned)
                .filter(|one| self.owner.is_none_or(|owner| owner == one.seat))
            {
                (foul_words(self.names().get(seat.index()).map(String::as_str), foul, language))
            }
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        self.record.header.players.as_slice()
    }

    /// True if whoever looks can play on from its positions.
    pub(crate) fn can_be_played_on(&self) -> bool {
        self.owner.is_none() && self.kind.info().can_begin_with_moves()
    }

    /// The position after so many moves as a set-up, from which somebody can play on; none where a game
    /// can't begin there.
    pub(crate) fn opening(&self, ply: usize) -> Option<String> {
        if !self.can_be_played_on() {
            return None;
        }
        let header = &self.record.header;
        let moves = self.record.moves().take(ply);
        let moves: Vec<&str> = moves.map(|(_, notation, _)| notation).collect();
        let line = self.kind.transcript((&header.setup, &header.seed), &moves);
        line.ok()
    }

    /// The seats that moved, in order.
    pub(crate) fn movers(&self) -> impl Iterator<Item = Seat> {
        self.moments.iter().map(|moment| moment.seat)
    }

    /// A move in words, counted from 0.
    pub(crate) fn moment_words(&self, at: usize, language: Language) -> &str {
        self.moments[at].action.in_words(language)
    }

    pub(crate) fn plies(&self) -> usize {
        self.moments.len()
    }

    /// The table after so many moves, with all hands open.
    fn open_scene(&self, ply: usize) -> &Scene {
        self.moments
            .get(ply)
            .map_or(&self.last, |moment| &moment.before)
    }

    /// The table after each number of moves, as somebody saw it.
    fn scenes(&self, seat: Option<Seat>) -> Vec<Scene> {
        let Some(seat) = self.only_sight().or(seat) else {
            return (0..=self.plies())
                .map(|ply| self.open_scene(ply).clone())
                .collect();
        };
        let mut scenes = Vec::with_capacity(self.plies() + 1);
        let mut knowledge = Knowledge::new(self.kind, seat);
        let mut next = self.moments.iter().map(|moment| moment.at).peekable();
        for (at, event) in self.record.events.iter().enumerate() {
            while next.next_if(|&until| until <= at).is_some() {
                scenes.push(knowledge.scene().unwrap_or_default());
            }
            // A record that was proved has no message that can't be read.
            let _ = knowledge.hear(event);
        }
        scenes.resize_with(self.plies() + 1, || knowledge.scene().unwrap_or_default());
        scenes
    }

    /// One position.
    pub(crate) fn scene(&self, look: ViewedPosition) -> Scene {
        let ply = look.ply.unwrap_or(self.plies()).min(self.plies());
        match self.only_sight().or(look.seat) {
            None => self.open_scene(ply).clone(),
            seat => self.scenes(seat).swap_remove(ply),
        }
    }

    pub(crate) fn picture(
        &self,
        scene: &Scene,
        line: &[(Seat, String)],
        language: Language,
    ) -> Picture {
        let look = Look {
            language,
            names: self.names(),
            line,
            id_prefix: PREFIX,
            ..Look::default()
        };
        Picture::of(scene, &look)
    }

    /// All positions, for the script.
    pub(crate) fn frames(&self, seat: Option<Seat>, language: Language) -> Frames {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut parts = Vec::new();
        let scenes = self.scenes(seat);
        let frames = scenes.iter().map(|scene| {
            let picture = self.picture(scene, &[], language);
            FrameOfGame {
                width: picture.width,
                height: picture.height,
                parts: (picture.parts.into_iter())
                    .map(|part| {
                        *known.entry(part.svg).or_insert_with_key(|svg| {
                            parts.push(svg.clone());
                            parts.len() - 1
                        })
                    })
                    .collect(),
                spoken: spoken(scene, self.names(), language),
            }
        });
        let frames = frames.collect();
        Frames { parts, frames }
    }
}

/// A foul, and the last lines that its bot printed. A bot and the referee say it in English; in
/// Chinese the kind of the foul stands before it.
pub(crate) fn foul_words(name: Option<&str>, foul: &Foul, language: Language) -> Markup {
    let FoulWords { sentence, printed } = FoulWords::of(foul);
    let kind = foul.kind().words_in(language);
    html! {
        p.evidence {
            @if let Some(name) = name { (name) (language.pick(": ", "：")) }
            @if language == Language::Zh { (kind) "：" }
            span lang="en" { (printable(&sentence)) }
        }
        @if !printed.is_empty() {
            pre.evidence lang="en" { @for line in &printed { (printable(line)) "\n" } }
        }
    }
}

/// The game on a page. `at` is the page's own address, `frames` where the script gets all positions,
/// `next` what can be done after it.
pub(crate) fn show(
    game: &ViewedGame,
    look: ViewedPosition,
    analysis: &Analysis,
    language: Language,
    at: &str,
    frames: &str,
    next: &Markup,
) -> Markup {
    let plies = game.plies();
    let turns = analysis.turns(game);
    let costs = |ply: usize| turns.iter().find(|turn| turn.ply == ply);
    let ply = look.ply.unwrap_or(plies).min(plies);
    let scene = game.scene(ViewedPosition {
        ply: Some(ply),
        ..look
    });
    let line = analysis.line_after(ply);
    let line = line.map_or(&[][..], |line| &line.moves);
    let picture = game.picture(&scene, line, language);
    let title = game.kind.info().title_in(language);
    let to = |ply: usize, seat: Option<Seat>| match seat {
        None => format!("{at}?ply={ply}"),
        Some(seat) => format!("{at}?ply={ply}&seat={seat}"),
    };
    html! {
        section.game #viewer data-frames=(frames) data-at=(at) data-ply=(ply) data-plies=(plies)
            data-seat=[look.seat] data-inline=[at.is_empty().then_some("frames")] {
            @if game.kind.has_secrets() && !at.is_empty() && game.owner.is_none() {
                nav.sights aria-label=(language.pick("What a seat knew", "座位所知")) {
                    span { (language.pick("Seen by", "视角")) }
                    a href=(to(ply, None)) data-sight="" aria-current=[look.seat.is_none().then_some("true")] {
                        (language.pick("all hands", "全部手牌"))
                    }
                    @for (seat, name) in game.record.header.players.iter() {
                        a href=(to(ply, Some(seat))) data-sight=(seat) aria-current=[(look.seat == Some(seat)).then_some("true")] {
                            (name)
                        }
                    }
                }
            }
            div.table #board { (PreEscaped(picture.svg(title))) }
            p.spoken #position { (spoken(&scene, game.names(), language)) }
            nav.steps aria-label=(language.pick("Moves", "着法")) {
                a data-step="first" href=(to(0, look.seat)) aria-label=(language.pick("First position", "开局")) { "|◀" }
                a data-step="back" href=(to(ply.saturating_sub(1), look.seat)) aria-label=(language.pick("One move back", "上一步")) { "◀" }
                output #ply { (ply) " / " (plies) }
                a data-step="on" href=(to((ply + 1).min(plies), look.seat)) aria-label=(language.pick("One move on", "下一步")) { "▶" }
                a data-step="last" href=(to(plies, look.seat)) aria-label=(language.pick("Last position", "终局")) { "▶|" }
                button #autoplay type="button" hidden data-pause=(language.pick("Pause", "暂停")) {
                    (language.pick("Play", "播放"))
                }
                input #scrubber type="range" min="0" max=(plies) value=(ply) hidden
                    aria-label=(language.pick("Position", "局面"));
            }
            p.keys hidden {
                (language.pick(
                    "Keys: ← → one move, Home and End, space plays.",
                    "按键：← → 前后一步，Home 和 End，空格播放。",
                ))
            }
            (evaluation::section(game, analysis, &turns, (at, ply), language))
        }
        section.beside {
            (game.ended.show(game.kind, game.names(), &[], next, language))
            (game.fouls(language))
            h2 { (language.pick("Moves", "着法")) }
            ol.moves #moves {
                @for (number, moment) in game.moments.iter().enumerate() {
                    li {
                        a href=(to(number + 1, look.seat)) data-ply=(number + 1)
                            aria-current=[(number + 1 == ply).then_some("step")] {
                            span.who { (game.names()[moment.seat.index()]) }
                            " "
                            span.what.foul[moment.action.is_foul()] { (moment.action.in_words(language)) }
                            " "
                            span.took { (time(moment.thought.as_micros() as u64)) }
                            @if let Some(turn) = costs(number + 1) {
                                " " span.turned { (format!("−{:.0} %", (turn.before - turn.after) * 100.0)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The times of each seat against their limit.
pub(crate) fn times(game: &ViewedGame, language: Language) -> Markup {
    let limit = game.record.header.limits.per_move;
    let players = game.record.header.players.iter();
    let rows = players.map(|(seat, name)| {
        let own = game.moments.iter().filter(|moment| moment.seat == seat);
        let longest = own
            .clone()
            .map(|moment| moment.thought)
            .max()
            .unwrap_or_default();
        (
            name,
            own.count(),
            game.record.result.thought_us[seat],
            longest,
        )
    });
    html! {
        table {
            caption { (language.pick("Thinking time", "思考时间")) }
            thead { tr {
                th scope="col" { (language.pick("player", "玩家")) }
                th.number scope="col" { (language.pick("moves", "步数")) }
                th.number scope="col" { (language.pick("in all", "总计")) }
                th.number scope="col" { (language.pick("longest", "最长")) }
                th scope="col" { (language.pick("of the limit", "占时限")) }
            } }
            tbody {
                @for (name, moves, thought, longest) in rows {
                    @let share = (longest.as_secs_f64() / limit.as_secs_f64().max(1e-9)).min(1.0);
                    tr {
                        th scope="row" { (name) }
                        td.number { (moves) }
                        td.number { (time(thought)) }
                        td.number { (time(longest.as_micros() as u64)) }
                        td { meter min="0" max="1" value=(format!("{share:.3}"))
                            aria-label=(language.pick("longest move against the limit", "最长一步占时限的比例")) {
                            (format!("{:.0} %", share * 100.0))
                        } }
                    }
                }
            }
        }
    }
}

/// All that was said, as it is in the record.
pub(crate) fn messages(game: &ViewedGame, language: Language) -> Markup {
    /// More are in the record.
    const MOST: usize = 1500;
    let lines = game.record.events.iter().take(MOST);
    let lines = lines.map(|event| serde_json::to_string(event).unwrap_or_default());
    html! {
        details.messages {
            summary { (language.pick("Raw messages", "原始消息")) " (" (game.record.events.len()) ")" }
            pre tabindex="0" { @for line in lines { (referee_core::printable(&line)) "\n" } }
        }
    }
}

/// A time for people.
pub(crate) fn time(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use referee_games::GAMES;

    use super::*;
    use crate::tests::played_in;

    #[test]
    fn a_position_is_played_on_where_a_game_can_begin_with_moves() {
        for kind in &GAMES {
            let game = ViewedGame::of(played_in(*kind, None)).unwrap();
            let can = kind.info().can_begin_with_moves();
            for ply in [0, 1, 3, game.plies() - 1] {
                let opening = game.opening(ply);
                assert_eq!(opening.is_some(), can, "{}", kind.info().name);
                let Some(opening) = opening else { continue };
                // The same position, whatever the dice say.
                let setup = kind.opening(&opening).unwrap();
                let table = kind
                    .deal(&setup, &referee_core::Seed::new([7; 32]))
                    .unwrap();
                let look = ViewedPosition {
                    ply: Some(ply),
                    seat: None,
                };
                // What the last move has turned is no part of a position.
                let words = |scene: &Scene| {
                    spoken(scene, game.names(), Language::En).replace(" (turned)", "")
                };
                assert_eq!(words(&table.scene()), words(&game.scene(look)));
            }
        }
    }

    #[test]
    fn an_owner_sees_what_the_seat_knew_whatever_is_asked_for() {
        for kind in GAMES.iter().filter(|kind| kind.has_secrets()) {
            let record = played_in(*kind, None);
            let whole = ViewedGame::of(record.clone()).unwrap();
            for seat in Seat::all(kind.info().seats) {
                let own = ViewedGame::of_seat(record.clone(), seat).unwrap();
                let moments = whole.moments.iter().enumerate();
                let own_moments = moments.filter(|(_, moment)| moment.seat == seat);
                let mut plies: Vec<usize> = own_moments.map(|(ply, _)| ply).collect();
                plies.push(whole.plies());
                assert_eq!(own.plies() + 1, plies.len());
                for (at, ply) in plies.into_iter().enumerate() {
                    let look = |ply, seat| ViewedPosition {
                        ply: Some(ply),
                        seat,
                    };
                    let expected = spoken(
                        &whole.scene(look(ply, Some(seat))),
                        whole.names(),
                        Language::En,
                    );
                    for asked in [None, Some(Seat::new(0)), Some(Seat::new(1))] {
                        let seen = own.scene(look(at, asked));
                        assert_eq!(spoken(&seen, own.names(), Language::En), expected);
                    }
                }
                let (one, all) = (
                    own.frames(None, Language::En),
                    whole.frames(None, Language::En),
                );
                assert_ne!(
                    one.frames[0].spoken, all.frames[0].spoken,
                    "the hands are open"
                );
                let page = show(
                    &own,
                    ViewedPosition::default(),
                    &Analysis::default(),
                    Language::En,
                    "x",
                    "y",
                    &html! {},
                );
                assert!(!page.into_string().contains("Seen by"));
            }
        }
    }
}
