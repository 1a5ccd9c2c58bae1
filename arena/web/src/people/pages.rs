//! The pages of games of people.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use arena_draw::{Look, Picture, spoken};
use arena_play::{NotTakenBack, Slip, setup_parts};
use maud::{Markup, html};
use referee_core::{GameKind, Seat, SetupChoices, SetupPart};
use serde_json::Value;

use super::{
    Opponent, People,
    kept::SeatedPlayer,
    table::{ActRefusal, ActReply, PeopleTable, SeatView, TableView},
};
use crate::{
    advice::NoAdvice,
    caller::Browser,
    evaluation,
    frame::{Block, Frame},
    language::Language,
    layout,
    pages::{date, front, game_title},
};

/// With more legal moves than this they are not all buttons.
const BUTTONS: usize = 70;

/// The games, and the settings of one.
pub(super) fn lobby(
    people: &People,
    chosen: Option<&'static dyn GameKind>,
    browser: Option<&Browser>,
    (setup, wrong): (&str, Option<&str>),
    language: Language,
) -> Markup {
    let own = browser.map_or_else(Vec::new, |browser| people.of_browser(browser));
    let played = browser.map_or_else(Vec::new, |browser| people.played(browser));
    let mut watched = people.watched();
    watched.retain(|table| own.iter().all(|own| own.id() != table.id()));
    html! {
        h1 { (language.pick("Play", "对局")) }
        @if !own.is_empty() {
            section {
                h2 { (language.pick("Your games", "你的对局")) }
                (table_list(&own, language))
            }
        }
        nav aria-label=(language.pick("Games", "游戏")) {
            (front::cards(chosen.map(|kind| kind.info().name), language))
        }
        @if let Some(kind) = chosen { (settings(people, kind, (setup, wrong), language)) }
        @if !watched.is_empty() {
            section {
                h2 { (language.pick("Games to watch", "可以观看的对局")) }
                (table_list(&watched, language))
            }
        }
        @if !played.is_empty() {
            section {
                h2 { (language.pick("What you have played", "下过的对局")) }
                div.scrolls { table {
                    thead { tr {
                        th scope="col" { (language.pick("game", "游戏")) }
                        th scope="col" { (language.pick("players", "玩家")) }
                        th scope="col" { (language.pick("result", "结果")) }
                        th scope="col" { (language.pick("end", "结束时间")) }
                    } }
                    tbody { @for one in &played { tr {
                        td { (game_title(&one.game, language)) }
                        th scope="row" { a href=(format!("people/{}", one.id)) { (one.names.join(" – ")) } }
                        td { (language.pick(&one.told[0], &one.told[1])) }
                        td { (date(one.ended_unix_ms.cast_signed())) }
                    } } }
                } }
            }
        }
    }
}

/// Links to games that are being played.
fn table_list(tables: &[Arc<PeopleTable>], language: Language) -> Markup {
    html! {
        ul { @for table in tables {
            li { a href=(format!("play/{}", table.id())) {
                (table.kind.info().title_in(language)) ": " (table.names.join(" – "))
            } }
        } }
    }
}

fn settings(
    people: &People,
    kind: &'static dyn GameKind,
    (setup, wrong): (&str, Option<&str>),
    language: Language,
) -> Markup {
    let info = kind.info();
    html! {
        section {
            h2 { (info.title_in(language)) }
            p { a href=(format!("rules/{}", info.name)) { (language.pick("Rules", "规则")) } }
            @if let Some(wrong) = wrong { p.warning role="alert" { (wrong) } }
            form.settings method="post" action="play" {
                input type="hidden" name="game" value=(info.name);
                label {
                    span { (language.pick("Your name", "你的名字")) }
                    input name="name" value=(language.pick("you", "你")) maxlength="24" autocomplete="nickname";
                }
                label {
                    span { (language.pick("Against", "对手")) }
                    select #against name="against" {
                        @for one in people.context.opponents(info) {
                            option value=(one.entry.spec) data-strength=[one.strength.map(|(at, _)| at)] {
                                (opponent(one, language))
                            }
                        }
                        option value="people" { (language.pick("people at this screen", "同一屏幕上的人")) }
                        option value="invite" { (language.pick("people whom you send a link", "通过链接邀请的人")) }
                    }
                }
                label hidden {
                    span { (language.pick("How strong", "强度")) }
                    input #strength type="range" min="1" step="1";
                }
                label {
                    span { (language.pick("You play", "你的座位")) }
                    select name="seat" {
                        @for seat in 0..info.seats {
                            option value=(seat) { (words_of_seat(seat, info.seats, language)) }
                        }
                        option value="random" { @match info.seats {
                            2 => (language.pick("either, by chance", "先后手随机")),
                            _ => (language.pick("any seat, by chance", "座位随机")),
                        } }
                    }
                }
                label {
                    span { (language.pick("Time of bots for a move", "机器人每步时限")) }
                    select name="limit_ms" {
                        @for (ms, words) in [(500, "0.5 s"), (1_000, "1 s"), (3_000, "3 s"), (10_000, "10 s"), (30_000, "30 s"), (60_000, "60 s")] {
                            option value=(ms) selected[ms == 3_000] { (words) }
                        }
                    }
                }
                label.check {
                    input type="checkbox" name="timed" value="1";
                    span { (language.pick("the same limit for me", "我也受同样的时限")) }
                }
                @if !kind.has_secrets() {
                    label.check {
                        input type="checkbox" name="watched" value="1";
                        span { (language.pick("others may watch", "允许他人观看")) }
                    }
                }
                details open[!setup.is_empty()] {
                    summary { (language.pick("Set-up", "开局设置")) }
                    @let standard: BTreeMap<String, Value> = setup_parts(kind).into_iter().collect();
                    @for part in info.setup {
                        @if let Some(value) = standard.get(part.name.english) {
                            (choices(part, &shown(value), language))
                        }
                    }
                    label {
                        span {
                            (language.pick("Or all of it in one line, such as ", "或用一行写出全部，例如 "))
                            code { (info.named_setup().unwrap_or_default()) }
                        }
                        input name="setup" value=(setup);
                    }
                }
                button type="submit" { (language.pick("Begin", "开始")) }
            }
        }
    }
}

/// A part of a set-up to choose, where it is not written. `standard` is what it is by itself.
fn choices(part: &SetupPart, standard: &str, language: Language) -> Markup {
    let name = format!("setup.{}", part.name.english);
    let label = capitalised(part.name.get(language));
    html! {
        @match part.choices {
            SetupChoices::Of(values) => label {
                span { (label) }
                select name=(name) {
                    @for (value, words) in values {
                        option value=(value) selected[*value == standard] { (words.get(language)) }
                    }
                }
            },
            SetupChoices::Cell { side, size: [rows, columns], words } => fieldset {
                legend { (label) }
                @for (value, words) in words {
                    label.check {
                        input type="radio" name=(name) value=(value) checked[*value == standard];
                        span { (words.get(language)) }
                    }
                }
                div.cells data-rows=(format!("setup.{rows}")) data-columns=(format!("setup.{columns}")) {
                    @for row in 0..side { div { @for column in 0..side {
                        @let cell = format!("{row}:{column}");
                        input type="radio" name=(name) value=(cell) aria-label=(cell) title=(cell);
                    } } }
                }
            },
            SetupChoices::Written => {},
        }
    }
}

/// An opponent in words: the name of a bot, how far it thinks, and how strong it is among the others.
fn opponent(one: &Opponent, language: Language) -> String {
    let Some((at, of)) = one.strength else {
        return one.entry.name.clone();
    };
    let spec = one.entry.spec.trim_start_matches("house:");
    let (name, options) = spec.split_once('?').unwrap_or((spec, ""));
    let name = capitalised(name);
    let chosen: Vec<String> = options
        .split('&')
        .filter_map(|option| option.split_once('='))
        .map(|(key, value)| match key {
            "time" => value.to_owned(),
            _ => format!("{} {value}", words_of_option(key, language)),
        })
        .collect();
    let chosen = match chosen.is_empty() {
        true => String::new(),
        false => format!(" ({})", chosen.join(", ")),
    };
    let comma = language.pick(", ", "，");
    format!(
        "{name}{chosen}{comma}{}",
        words_of_strength(at, of, language)
    )
}

/// A text that begins with a capital letter.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// What an option of a built-in bot is called.
fn words_of_option(key: &str, language: Language) -> &str {
    match key {
        "level" => language.pick("level", "级别"),
        "plies" => language.pick("moves ahead:", "预算步数："),
        other => other,
    }
}

/// How strong somebody is who is at this place of so many, from 1 for the weakest.
fn words_of_strength(at: usize, of: usize, language: Language) -> &'static str {
    match (at, of) {
        (at, of) if at >= of => language.pick("the strongest", "最强"),
        (1, _) => language.pick("for a first game", "适合初学"),
        (at, of) if 4 * at > 3 * of => language.pick("very strong", "很强"),
        (at, of) if 2 * at > of => language.pick("strong", "较强"),
        _ => language.pick("easy", "较弱"),
    }
}

/// A seat in words.
fn words_of_seat(seat: u8, seats: u8, language: Language) -> String {
    match (seat, seats) {
        (0, 2) => language.pick("first", "先手").to_owned(),
        (_, 2) => language.pick("second", "后手").to_owned(),
        (0, _) => language.pick("first", "第一位").to_owned(),
        (1, _) => language.pick("second", "第二位").to_owned(),
        (2, _) => language.pick("third", "第三位").to_owned(),
        (3, _) => language.pick("fourth", "第四位").to_owned(),
        (seat, _) => (seat + 1).to_string(),
    }
}

/// A part of a set-up as people write it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "random".to_owned(),
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

/// The page of a game.
pub(super) fn table(
    table: &PeopleTable,
    own: &[Seat],
    message: Option<&str>,
    language: Language,
) -> Markup {
    let frame = frame(table, own, language);
    let title = table.names.join(" – ");
    let at = format!("play/{}", table.id());
    let waits_for_people = table.chairs().iter().any(SeatedPlayer::is_free);
    html! {
        h1 { (title) }
        p {
            a href=(format!("rules/{}", table.kind.info().name)) { (table.kind.info().title_in(language)) }
        }
        @if own.is_empty() && waits_for_people {
            form method="post" action=(format!("{at}/join")) {
                p { (language.pick("You are invited to this game.", "你被邀请参加这一局。")) }
                button type="submit" { (language.pick("Take a seat", "就座")) }
            }
        }
        @if !own.is_empty() && waits_for_people {
            p.invite {
                (language.pick("Send the address of this page to those who play with you. ", "把本页的网址发给同局的人。"))
                // Only the browser knows it: a proxy may have given the page another name.
                code #address {}
            }
        }
        div.watching {
            section.game {
                (layout::block(&frame, "board"))
                div #message role="status" data-failed=(language.pick(
                    "That did not work. Look at the game, then try again.",
                    "操作未成功。请查看对局后再试。",
                )) { @if let Some(message) = message { (message) } }
            }
            section.beside {
                (layout::block(&frame, "state"))
                @if own.is_empty() {
                    @if table.is_watched() { p.why { (language.pick("You watch this game.", "你在观看这一局。")) } }
                } @else {
                    (layout::block(&frame, "moving"))
                    (layout::block(&frame, "back"))
                    (layout::block(&frame, "acts"))
                    (layout::block(&frame, "legal"))
                    (layout::block(&frame, "evaluation"))
                }
                h2 { (language.pick("Moves", "着法")) }
                (layout::block(&frame, "moves"))
            }
        }
    }
}

fn act(at: &str, name: &str, words: &str, asks: Option<&str>) -> Markup {
    html! {
        form.act method="post" action=(format!("{at}/{name}")) data-acts data-confirm=[asks] { button type="submit" { (words) } }
    }
}

/// What can be played after a game that is over: a rematch by those who were in it and have not left
/// it for long.
pub(super) fn next(id: &str, kind: &dyn GameKind, is_own: bool, language: Language) -> Markup {
    html! {
        div.next {
            @if is_own {
                form method="post" action=(format!("play/{id}/rematch")) {
                    button type="submit" { (language.pick("Rematch, seats changed", "换座再来一局")) }
                }
            }
            a.button.other href=(format!("play?game={}", kind.info().name)) {
                (language.pick("Another game", "另开一局"))
            }
        }
    }
}

/// The parts of a game's page that can change, for somebody with these seats.
pub(super) fn frame(table: &PeopleTable, own: &[Seat], language: Language) -> Frame {
    let view = table.view();
    let shown = table.shown_as(own, &view);
    let at = format!("play/{}", table.id());
    let mut said = state_words(table, &view, own, language);
    let seen = shown.and_then(|seat| view.seats.get(&seat).map(|seen| (seat, seen)));
    let asked = seen.filter(|(seat, _)| own.contains(seat) && view.turn.contains(seat));
    let board = match seen {
        Some((_, seen)) => {
            let look = Look {
                language,
                names: &table.names,
                legal: if asked.is_some() { &seen.legal } else { &[] },
                id_prefix: "p-",
                ..Look::default()
            };
            let mut picture = Picture::of(&seen.scene, &look);
            // It is no other element while somebody else is asked.
            picture.interactive = !own.is_empty();
            let title = table.kind.info().title_in(language);
            if let Some(last) = seen.moves.last() {
                said = format!(
                    "{}: {}. {said}",
                    table.names[last.seat.index()],
                    last.action.in_words(language)
                );
            }
            let mut block = Block::of_picture("board", &picture, "p-", title);
            let in_words =
                html! { p.spoken id="p-spoken" { (spoken(&seen.scene, &table.names, language)) } };
            let in_words = in_words.into_string();
            block.html = format!("{}{in_words}", block.html).into();
            block.parts.push(("p-spoken".to_owned(), in_words.into()));
            block
        }
        None => Block::new(
            "board",
            curtain(table, own, &view, &at, language).into_string(),
        ),
    };
    let moving = html! {
        @if let Some((seat, seen)) = asked {
            form.move method="post" action=(format!("{at}/move")) data-acts #move
                data-many[is_of_several(seen)] {
                input type="hidden" name="seat" value=(seat);
                input type="hidden" name="version" value=(view.version);
                label { span { (language.pick("Your move", "你的着法")) }
                    input #written name="move" autocomplete="off" autocapitalize="off" spellcheck="false"
                        placeholder=(table.kind.info().notation.get(language)); }
                button type="submit" { (language.pick("Move", "走")) }
            }
            @let others = without_cells(seen);
            @if !others.is_empty() {
                form.legal-moves.others method="post" action=(format!("{at}/move")) data-acts {
                    (legal_moves((seat, view.version), &others, table, language))
                }
            }
        }
    };
    let legal = html! {
        @if let Some((seat, seen)) = asked {
            @if seen.legal.len() <= BUTTONS {
                details open[seen.legal.len() <= 16] {
                    summary { (language.pick("Legal moves", "合法着法")) " (" (seen.legal.len()) ")" }
                    form.legal-moves method="post" action=(format!("{at}/move")) data-acts {
                        (legal_moves((seat, view.version), &seen.legal, table, language))
                    }
                }
            } @else {
                p { (seen.legal.len()) " " (language.pick("legal moves: choose cards and press Move, or type them.", "种合法着法：选牌后按“走”，或直接输入。")) }
            }
        }
    };
    let acts = html! {
        @if !own.is_empty() && view.ended.is_none() && view.failed.is_none() {
            div.acts {
                (act(&at, "hint", language.pick("Hint", "提示"), None))
                (act(&at, "evaluate", language.pick("Evaluate", "评估"), None))
                (act(&at, "back", language.pick("Take back", "悔棋"), None))
                (act(&at, "resign", language.pick("Resign", "认输"),
                    Some(language.pick("Do you resign?", "确定认输吗？"))))
            }
        }
    };
    let request = table.take_back_request(&view);
    let back = html! {
        @if let Some((who, waits_for)) = &request {
            @if own.contains(who) {
                p { (language.pick("You have asked to take back your last move.", "你已请求悔棋。")) }
            }
            @if let Some(seat) = own.iter().find(|seat| waits_for.contains(seat)) {
                p { (asks_to_take_back(&table.names[who.index()], language)) }
                div.acts {
                    @for (name, words) in [
                        ("agree", language.pick("Agree", "同意")),
                        ("refuse", language.pick("Refuse", "拒绝")),
                    ] {
                        form.act method="post" action=(format!("{at}/{name}")) data-acts {
                            input type="hidden" name="seat" value=(seat);
                            input type="hidden" name="version" value=(view.version);
                            button type="submit" { (words) }
                        }
                    }
                }
            }
        }
    };
    if let Some((who, waits_for)) = &request
        && own.iter().any(|seat| waits_for.contains(seat))
    {
        let asks = asks_to_take_back(&table.names[who.index()], language);
        said = format!("{asks} {said}");
    }
    let expected = shown.filter(|seat| own.contains(seat));
    let expected = match expected.and_then(|seat| table.evaluation(seat, &view)) {
        Some(expected) => evaluation::bars(&table.names, &expected, language),
        None => html! {},
    };
    let state = html! {
        @match &view.ended {
            Some(ended) => (ended.show(table.kind, &table.names, own, &html! {
                (next(table.id(), table.kind, !own.is_empty(), language))
                p { a href=(format!("people/{}", table.id())) {
                    (language.pick("See it move by move", "逐步回看"))
                } }
            }, language)),
            None => p.turn { (state_words(table, &view, own, language)) },
        }
        @if let Some(left) = view.seconds_left {
            p { (language.pick("Time for this move: ", "本步时限：")) (left) " s" }
        }
    };
    let moves = html! {
        ol.moves { @if let Some((_, seen)) = seen { @for one in &seen.moves {
            li {
                span.who { (table.names[one.seat.index()]) } " "
                span.what.foul[one.action.is_foul()] { (one.action.in_words(language)) }
            }
        } } }
    };
    Frame {
        blocks: vec![
            board,
            Block::new("state", state.into_string()),
            Block::new("moving", moving.into_string()),
            Block::new("back", back.into_string()),
            Block::new("acts", acts.into_string()),
            Block::new("legal", legal.into_string()),
            Block::new("evaluation", expected.into_string()),
            Block::new("moves", moves.into_string()),
        ],
        said,
        is_last: view.ended.is_some() || view.failed.is_some(),
    }
}

fn asks_to_take_back(name: &str, language: Language) -> String {
    match language {
        Language::En => format!("{name} asks to take back their last move."),
        Language::Zh => format!("{name} 请求悔棋。"),
    }
}

/// A button for each of these moves of a seat.
fn legal_moves(
    (seat, version): (Seat, u64),
    legal: &[String],
    table: &PeopleTable,
    language: Language,
) -> Markup {
    html! {
        input type="hidden" name="seat" value=(seat);
        input type="hidden" name="version" value=(version);
        @for notation in legal {
            button type="submit" name="move" value=(notation) {
                (table.kind.spoken_move(notation, language))
            }
        }
    }
}

/// The legal moves that no cells mean, such as a pass.
fn without_cells(seen: &SeatView) -> Vec<String> {
    let named = names_of_cells(seen);
    let is_other = |notation: &&String| {
        !named.contains(notation.as_str()) && !notation.split(' ').all(|part| named.contains(part))
    };
    seen.legal.iter().filter(is_other).cloned().collect()
}

fn names_of_cells(seen: &SeatView) -> HashSet<&str> {
    let cells = seen.scene.areas.iter().flat_map(|area| &area.cells);
    cells.map(|cell| &*cell.says).collect()
}

/// True if some moves are of several pieces at once, so that a click chooses one of them.
fn is_of_several(seen: &SeatView) -> bool {
    let named = names_of_cells(seen);
    seen.legal.iter().any(|notation| {
        let mut parts = notation.split(' ').peekable();
        parts.next();
        parts.peek().is_some() && notation.split(' ').all(|part| named.contains(part))
    })
}

/// The curtain that is shown where nobody may see a hand.
fn curtain(
    table: &PeopleTable,
    own: &[Seat],
    view: &TableView,
    at: &str,
    language: Language,
) -> Markup {
    let next = own.iter().find(|seat| view.turn.contains(seat));
    html! {
        div.curtain {
            @if let Some(seat) = next {
                @let name = &table.names[seat.index()];
                form method="post" action=(format!("{at}/sit")) data-acts {
                    input type="hidden" name="seat" value=(seat);
                    button type="submit" {
                        @match language {
                            Language::En => { (name) " sits down, alone" }
                            Language::Zh => { "请 " (name) " 独自坐下" }
                        }
                    }
                }
            } @else if own.is_empty() {
                p { (language.pick("Only those who play see the table.", "只有对局者能看到牌桌。")) }
            } @else if view.version == 0 {
                p { (language.pick("The game begins.", "对局开始。")) }
            } @else {
                p { (language.pick("The others think.", "对方思考中。")) }
            }
        }
    }
}

fn state_words(table: &PeopleTable, view: &TableView, own: &[Seat], language: Language) -> String {
    if let Some(failed) = &view.failed {
        return match language {
            Language::En => format!("The game can't go on: {failed}"),
            Language::Zh => "对局无法继续。".to_owned(),
        };
    }
    if let Some(ended) = &view.ended {
        return ended.in_words(language);
    }
    let mine = own.iter().filter(|seat| view.turn.contains(seat));
    let names: Vec<&str> = mine.map(|seat| &*table.names[seat.index()]).collect();
    match (&names[..], own) {
        ([], _) if view.version == 0 => language
            .pick("The bots start.", "机器人正在启动。")
            .to_owned(),
        ([], []) if table.is_watched() => {
            match view.turn.first().map(|seat| &table.names[seat.index()]) {
                Some(name) => match language {
                    Language::En => format!("It is the turn of {name}."),
                    Language::Zh => format!("轮到 {name}。"),
                },
                None => language.pick("A bot thinks.", "机器人思考中。").to_owned(),
            }
        }
        ([], _) => language
            .pick("The others think.", "对方思考中。")
            .to_owned(),
        (_, [_]) => language.pick("It is your turn.", "轮到你了。").to_owned(),
        (names, _) => match language {
            Language::En => format!("It is the turn of {}.", names.join(", ")),
            Language::Zh => format!("轮到 {}。", names.join("、")),
        },
    }
}

/// The message for a person about what they did.
pub(super) fn answer(
    done: &Result<ActReply, ActRefusal>,
    table: &PeopleTable,
    language: Language,
) -> String {
    match done {
        Ok(ActReply::Shown) => String::new(),
        Ok(ActReply::Hint { bot, notation }) => {
            let spoken = table.kind.spoken_move(notation, language);
            match language {
                Language::En => format!("{bot} would play {spoken}"),
                Language::Zh => format!("{bot} 会走 {spoken}"),
            }
        }
        Err(ActRefusal::Slip(slip)) => {
            let notation = table.kind.info().notation.get(language);
            match (language, slip) {
                (Language::En, slip) => format!("{slip}; expected {notation}"),
                (Language::Zh, Slip::Unknown(written)) => {
                    format!("“{written}”不是合法着法；应写作 {notation}")
                }
                (
                    Language::Zh,
                    Slip::Ambiguous {
                        written,
                        candidates,
                    },
                ) => {
                    format!("“{written}”可以是 {}", candidates.join(" 或 "))
                }
            }
        }
        Err(ActRefusal::NotTakenBack(why)) => match (language, why) {
            (Language::En, why) => why.to_string(),
            (Language::Zh, NotTakenBack::NoMove) => "没有可以收回的着法".to_owned(),
            (Language::Zh, NotTakenBack::Secrets) => {
                "几个人对局时，同样的手牌和牌会再次出现，因此有暗牌的游戏不能悔棋".to_owned()
            }
            (Language::Zh, NotTakenBack::CantResume(bot)) => {
                format!("{bot} 不能从对局中途继续，所以不能悔棋")
            }
        },
        Ok(ActReply::OthersAsked) => language
            .pick(
                "Whoever plays with you is asked whether you may take it back.",
                "已询问对方是否同意悔棋。",
            )
            .to_owned(),
        Err(ActRefusal::NothingToAgree) => language
            .pick(
                "Nobody asks you any more to take a move back.",
                "现在没有人请求悔棋。",
            )
            .to_owned(),
        Err(ActRefusal::Full(full)) => full.words(language).to_owned(),
        Err(ActRefusal::NoHint(error)) => match (language, error) {
            (Language::En, error) => format!("There is no hint: {error}"),
            (Language::Zh, NoAdvice::NoBot) => "没有提示：这个游戏没有机器人".to_owned(),
            (Language::Zh, NoAdvice::Failed(_)) => "没有提示：机器人出错".to_owned(),
        },
        Err(ActRefusal::NoEvaluation) => language
            .pick(
                "Too little is known to deal what you can't see; try again after the next move.",
                "所知太少，无法模拟未知的牌；请在下一步后再试。",
            )
            .to_owned(),
        Err(ActRefusal::NotAsked) => language
            .pick("It is not your turn.", "现在没有轮到你。")
            .to_owned(),
        Err(ActRefusal::GoneOn) => language
            .pick(
                "The game has gone on since this page was loaded; look again.",
                "页面加载后对局已有变化，请再看一遍。",
            )
            .to_owned(),
    }
}
