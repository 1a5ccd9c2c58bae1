//! Texts for people, in each language.

use std::{fmt::Write as _, io, path::Path};

use arena_play::{NotTakenBack, PeopleGame, Slip};
use arena_review::ExpectedScore;
use arena_terminal::{
    draw::Signs,
    report::{LONGEST_NAME, WIDTH},
};
use arena_words::result_with_evidence;
use house_bots::HOUSE;
use referee_core::{GameInfo, Hidden, Language, Piece, Scene, Seat, Shape, printable, shorten};

use crate::{full_screen::wrapped, rules::as_text};

/// The language that the terminal's locale says.
pub(super) fn language_of_terminal() -> Language {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match locale {
        Some(locale) if locale.starts_with("zh") => Language::Zh,
        _ => Language::En,
    }
}

/// A command that can be typed in place of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Rules,
    Legal,
    Board,
    Hint,
    Evaluate,
    Back,
    Save,
    Record,
    Resign,
    Quit,
    Again,
    Settings,
}

/// Each command, and how it is typed.
const COMMANDS: &[(Command, &[&str])] = &[
    (Command::Help, &["help", "?", "帮助"]),
    (Command::Rules, &["rules", "规则"]),
    (Command::Legal, &["legal", "moves", "着法"]),
    (Command::Board, &["board", "show", "棋盘"]),
    (Command::Hint, &["hint", "提示"]),
    (Command::Evaluate, &["evaluate", "eval", "评估"]),
    (Command::Back, &["back", "undo", "悔棋"]),
    (Command::Save, &["save", "保存"]),
    (Command::Record, &["record", "记录"]),
    (Command::Resign, &["resign", "认输"]),
    (Command::Quit, &["quit", "exit", "退出"]),
    (Command::Again, &["again", "再来"]),
    (Command::Settings, &["settings", "设置"]),
];

/// The command of a line, and what is typed behind it.
pub(super) fn command(line: &str) -> Option<(Command, &str)> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = word.to_lowercase();
    let found = (COMMANDS.iter()).find(|(_, words)| words.contains(&&*word))?;
    Some((found.0, rest.trim()))
}

/// The settings that every game has, and how they are called in Chinese.
const SETTINGS: &[(&str, &str)] = &[
    ("seat", "座位"),
    ("against", "对手"),
    ("limit", "时限"),
    ("timed", "限时"),
    ("setup", "开局设置"),
    ("seed", "种子"),
];

/// A setting's name, whatever the language it is typed in.
pub(super) fn setting(typed: &str) -> &str {
    let found = SETTINGS.iter().find(|(_, chinese)| *chinese == typed);
    found.map_or(typed, |(name, _)| name)
}

/// A setting's name as it is shown.
pub(super) fn setting_label(language: Language, name: &str) -> &str {
    let found = SETTINGS.iter().find(|(known, _)| *known == name);
    found.map_or(name, |(name, chinese)| language.pick(name, chinese))
}

pub(super) fn heading(language: Language, info: &GameInfo) -> String {
    format!("{}\n\n", info.title_in(language))
}

pub(super) fn rules(language: Language, info: &GameInfo) -> String {
    format!("\n{}\n\n", as_text(info.rules.get(language)))
}

/// The same in lines of the usual width.
pub(super) fn printed_rules(language: Language, info: &GameInfo) -> String {
    wrapped(&rules(language, info), WIDTH).join("\n") + "\n"
}

pub(super) fn bots(language: Language, info: &GameInfo) -> String {
    let mut text = format!(
        "{}\n",
        language.pick("Built-in bots of this game:", "这个游戏的内置机器人：")
    );
    for bot in HOUSE.iter().filter(|bot| bot.games.include(info.name)) {
        let _ = writeln!(text, "  house:{:<16} {}", bot.name, bot.summary);
        for it in bot.parameters {
            let _ = writeln!(text, "    ?{}=  {} ({})", it.name, it.summary, it.standard);
        }
    }
    text
}

pub(super) const fn how_to_set(language: Language) -> &'static str {
    language.pick(
        "Type a setting and its value, such as `seat 1`; `rules`, `bots` or `help`; or press Enter \
         to begin.",
        "输入设置和它的值（例如 `seat 1`），或者 `rules`、`bots`、`help`；按回车开始。",
    )
}

pub(super) fn settings_help(language: Language, keys: &[String]) -> String {
    let mut text = language
        .pick(
            "  seat N         your seat from 0, or random\n  \
             against SPEC   a bot: house:NAME, exec:PROGRAM, grpc://HOST:PORT, image:NAME, …;\n                 \
             people for others at this terminal; `bots` lists the built-in ones\n  \
             limit TIME     how long a bot may think for one move, such as 500ms\n  \
             timed yes      you have the same limit; an answer that comes later loses\n  \
             setup LINE     the whole set-up in one line, written as for --setup\n  \
             seed WORD      the same deal again\n",
            "  seat N         你的座位，从 0 开始；random 表示随机\n  \
             against SPEC   机器人：house:NAME、exec:PROGRAM、grpc://HOST:PORT、image:NAME……；\n                 \
             people 表示同一终端上的其他人；`bots` 列出内置机器人\n  \
             limit TIME     机器人每步的思考时间，例如 500ms\n  \
             timed yes      你也受同样的时限；超时判负\n  \
             setup LINE     用一行写出整个开局设置，写法与 --setup 相同\n  \
             seed WORD      再发同一副牌\n",
        )
        .to_owned();
    for key in keys {
        let _ = writeln!(
            text,
            "  {key:<14} {}",
            language.pick(
                "of the set-up (see `rules`); random or default where it is drawn",
                "开局设置（见 `rules`）；random 或 default 表示随机"
            )
        );
    }
    text += language.pick(
        "  rules, bots    what can be read\n  start          begin (or press Enter)\n  quit           leave\n",
        "  rules、bots    规则，机器人列表\n  start          开始（或按回车）\n  quit           退出\n",
    );
    text
}

pub(super) fn sits(language: Language, seat: Seat, name: &str) -> String {
    match language {
        Language::En => format!("seat {seat}: {name}"),
        Language::Zh => format!("座位 {seat}：{name}"),
    }
}

pub(super) const fn how_to_play(language: Language) -> &'static str {
    language.pick(
        "Type a move, or `help`.",
        "请输入着法；输入 `help` 查看可用命令。",
    )
}

pub(super) fn help(language: Language, info: &GameInfo) -> String {
    match language {
        Language::En => format!(
            "  a move         {}; where one number is enough, that number\n  \
             legal          the legal moves\n  \
             back           take your last move back\n  \
             hint           what a built-in bot would play with what you know\n  \
             evaluate       what each player can expect, by searches with what you know\n  \
             board          draw it again\n  \
             save FILE      write what is drawn to a new file\n  \
             rules          the rules\n  \
             resign         give up\n  \
             quit           leave\n",
            info.notation.get(language)
        ),
        Language::Zh => format!(
            "  着法           {}；只需一个数字时输入该数字即可\n  \
             legal / 着法   合法着法\n  \
             back / 悔棋    收回你的上一步\n  \
             hint / 提示    内置机器人在你的位置会怎么走\n  \
             evaluate / 评估  以你所知搜索，估计各方的得分\n  \
             board / 棋盘   重新显示\n  \
             save FILE      把局面写入新文件\n  \
             rules / 规则   规则\n  \
             resign / 认输  认输\n  \
             quit / 退出    退出\n",
            info.notation.get(language)
        ),
    }
}

pub(super) fn legal(language: Language, legal: &[String]) -> String {
    format!(
        "{}{}",
        language.pick("legal: ", "合法着法："),
        legal.join(language.pick("; ", "；"))
    )
}

pub(super) fn many_legal(language: Language, count: usize) -> String {
    match language {
        Language::En => format!("{count} legal moves; `legal` lists them"),
        Language::Zh => format!("共有 {count} 种合法着法；输入 `legal` 查看"),
    }
}

pub(super) fn slip(
    language: Language,
    slip: &Slip,
    notation: &str,
    legal: &[String],
    few: usize,
) -> String {
    let expected = match language {
        _ if legal.len() <= few => self::legal(language, legal),
        Language::En => format!("expected {notation}; `legal` lists them"),
        Language::Zh => format!("着法应写作：{notation}；输入 `legal` 查看"),
    };
    match (language, slip) {
        (Language::En, slip) => format!("{slip}; {expected}"),
        (Language::Zh, Slip::Unknown(written)) => format!("“{written}”不是合法着法；{expected}"),
        (
            Language::Zh,
            Slip::Ambiguous {
                written,
                candidates,
            },
        ) => format!("“{written}”可以是 {}", candidates.join(" 或 ")),
    }
}

pub(super) fn hint(language: Language, bot: &str, notation: &str) -> String {
    match language {
        Language::En => format!("house:{bot} would play {notation}"),
        Language::Zh => format!("house:{bot} 会走 {notation}"),
    }
}

/// Result of a game; none while it goes on.
pub(super) fn result(language: Language, game: &PeopleGame) -> Option<String> {
    let (record, ending) = game.record().zip(game.ending())?;
    Some(match language {
        Language::En => result_with_evidence(record),
        Language::Zh => arena_words::result(record, ending, language),
    })
}

/// The score that each player can expect, a line and a bar for each.
pub(super) fn evaluation(
    language: Language,
    names: &[String],
    expects: &[ExpectedScore],
    analyst: Option<&str>,
    signs: Signs,
) -> String {
    const BAR: usize = 20;
    let (full, empty) = match signs {
        Signs::Ascii => ("#", "."),
        Signs::Unicode => ("█", "░"),
    };
    let mut text = match (analyst, language) {
        (None, _) => language
            .pick(
                "Shares of the points, ± one standard error, by random playouts:",
                "预期得分占比（± 一个标准误差，随机模拟）：",
            )
            .to_owned(),
        (Some(bot), Language::En) => {
            format!("Shares of the points, as house:{bot} estimates them:")
        }
        (Some(bot), Language::Zh) => format!("预期得分占比（由 house:{bot} 估计）："),
    };
    for (name, one) in names.iter().zip(expects) {
        let name = shorten(name, LONGEST_NAME);
        let filled = (one.score * BAR as f64).round() as usize;
        let bar = full.repeat(filled.min(BAR)) + &empty.repeat(BAR.saturating_sub(filled));
        let error = match analyst {
            Some(_) => String::new(),
            None => format!(" ±{:>2.0}", one.error * 100.0),
        };
        text += &format!("\n{bar} {:>3.0}{error} %  {name}", one.score * 100.0);
    }
    text
}

pub(super) const fn evaluating(language: Language) -> &'static str {
    language.pick("evaluating", "评估中")
}

pub(super) const fn no_evaluation(language: Language) -> &'static str {
    language.pick(
        "Too little is known to deal what you can't see; try again after the next move.",
        "所知太少，无法模拟未知的牌；请在下一步后再试。",
    )
}

pub(super) const fn taken_back(language: Language) -> &'static str {
    language.pick("Taken back.", "已悔棋。")
}

pub(super) fn not_taken_back(language: Language, why: &NotTakenBack) -> String {
    match (language, why) {
        (Language::En, why) => why.to_string(),
        (Language::Zh, NotTakenBack::NoMove) => "没有可以收回的着法".to_owned(),
        (Language::Zh, NotTakenBack::Secrets) => {
            "几个人对局时，同样的手牌和牌会再次出现，因此有暗牌的游戏不能悔棋".to_owned()
        }
        (Language::Zh, NotTakenBack::CantResume(bot)) => {
            format!("{bot} 不能从对局中途继续（can_resume），所以不能悔棋")
        }
    }
}

pub(super) const fn not_over(language: Language) -> &'static str {
    language.pick(
        "That is for when the game is over; `resign` ends it, `quit` leaves.",
        "对局结束后才能使用；`resign` 认输，`quit` 退出。",
    )
}

pub(super) const fn after(language: Language) -> &'static str {
    language.pick(
        "`save FILE` (what is drawn), `record FILE` (the record, for `arena replay`), `back` (take \
         your last move back), `again`, `settings`, `quit`.",
        "`save FILE`（保存局面）、`record FILE`（保存记录，供 `arena replay` 使用）、`back`（悔棋）、\
         `again`（再来一局）、`settings`（设置）、`quit`（退出）。",
    )
}

pub(super) const fn which_file(language: Language) -> &'static str {
    language.pick(
        "Type the name of a new file behind it.",
        "请在后面写上新文件的名字。",
    )
}

pub(super) fn written(language: Language, file: &str) -> String {
    match language {
        Language::En => format!("written: {file}"),
        Language::Zh => format!("已写入：{file}"),
    }
}

pub(super) fn not_written(language: Language, file: &str, error: &io::Error) -> String {
    let exists = error.kind() == io::ErrorKind::AlreadyExists;
    match (language, exists) {
        (Language::En, true) => format!("{file} is there already; type the name of a new file"),
        (Language::Zh, true) => format!("{file} 已经存在；请换一个名字"),
        (Language::En, false) => format!("could not write {file}: {error}"),
        (Language::Zh, false) => format!("无法写入 {file}：{error}"),
    }
}

pub(super) fn sits_down(language: Language, name: &str) -> String {
    match language {
        Language::En => format!("{name} sits down, alone, and presses Enter"),
        Language::Zh => format!("请 {name} 独自坐下，然后按回车"),
    }
}

/// Label of a key of the full screen.
pub(super) const fn key_label(language: Language, command: Command) -> &'static str {
    match command {
        Command::Help => language.pick("help", "帮助"),
        Command::Rules => language.pick("rules", "规则"),
        Command::Legal => language.pick("legal", "着法"),
        Command::Board => language.pick("board", "棋盘"),
        Command::Hint => language.pick("hint", "提示"),
        Command::Evaluate => language.pick("evaluate", "评估"),
        Command::Back => language.pick("take back", "悔棋"),
        Command::Save => language.pick("save", "保存"),
        Command::Record => language.pick("record", "记录"),
        Command::Resign => language.pick("resign", "认输"),
        Command::Quit => language.pick("quit", "退出"),
        Command::Again => language.pick("again", "再来"),
        Command::Settings => language.pick("settings", "设置"),
    }
}

pub(super) fn keys_help(language: Language) -> String {
    let text = language.pick(
        "  arrows         go to another square, card, tile or button; scroll a table that has no room\n  \
         Enter          play what the cursor is on, or what is chosen\n  \
         Space          choose a card or tile, or no longer\n  \
         a click        plays a square or button, chooses a card or tile; where one is a move, a \
         second click plays it\n  \
         letters        a move or a command below, then Enter\n  \
         PageUp, wheel  older moves\n  \
         Esc            forget what is typed or chosen\n  \
         Ctrl-L         draw everything again\n",
        "  方向键         移动光标；棋盘显示不全时滚动\n  \
         回车           走光标处的着法，或打出所选的牌\n  \
         空格           选牌或取消\n  \
         点击           走棋、选牌；只需一张牌时再次点击即打出\n  \
         字母           输入着法或下面的命令，然后按回车\n  \
         PageUp、滚轮   更早的着法\n  \
         Esc            取消输入或选择\n  \
         Ctrl-L         重新绘制\n",
    );
    format!("\n{text}\n")
}

/// The signs of a table, as far as they are on this one.
pub(super) fn signs_help(language: Language, signs: Signs, scene: &Scene) -> String {
    let sign = |piece| signs.sign(piece).text;
    let has = |is_it: fn(&Piece) -> bool| {
        let mut cells = scene.areas.iter().flat_map(|area| &area.cells);
        cells.any(|cell| is_it(&cell.piece))
    };
    let [first, second] = [0, 1].map(|seat| {
        sign(Piece::Disc {
            seat: Seat::new(seat),
        })
    });
    let mut lines = Vec::new();
    let mut add = |sign: &str, english, chinese| {
        // The signs are all of one column.
        lines.push(format!("  {sign:<14} {}", language.pick(english, chinese)));
    };
    if scene
        .areas
        .iter()
        .any(|area| matches!(area.shape, Shape::Board { .. }))
    {
        let discs = format!("{first} {second}");
        add(
            &discs,
            "discs of the first and of the second player",
            "先手和后手的棋子",
        );
        add("+", "a square that you may play to", "可以落子的位置");
        let last = format!("[{second}]");
        add(&last, "the last move, in brackets", "方括号：最后一步");
        if has(|piece| *piece == Piece::Blocked) {
            let blocked = sign(Piece::Blocked);
            add(&blocked, "a cell that nobody may use", "不可落子的位置");
        }
    }
    let is_tile = |piece: &Piece| matches!(piece, Piece::Tile { .. });
    let is_card = |piece: &Piece| matches!(piece, Piece::Card { .. } | Piece::Joker { .. });
    let is_hidden = |piece: &Piece| matches!(piece, Piece::FaceDown { .. });
    if has(is_tile) {
        add("1c 1b 1d", "characters, bamboos, dots", "万、条、筒");
        add(
            "[ ]",
            "the last tile that was drawn or discarded",
            "方括号：刚摸到或打出的牌",
        );
    }
    if has(is_card) {
        if signs == Signs::Unicode {
            add(
                "♣ ♦ ♥ ♠",
                "in moves C, D, H, S: 3♣ is 3C",
                "着法中写作 C、D、H、S：3♣ 为 3C",
            );
        }
        add("JK1 JK2", "the jokers", "两张王");
        add("[ ]", "a card to beat, in brackets", "方括号：要压过的牌");
    }
    if has(is_tile) || has(is_card) {
        add(
            "< >",
            "chosen; what is part of a legal move is underlined",
            "已选；下划线：可以打出",
        );
    }
    if has(is_hidden) {
        let hidden = sign(Piece::FaceDown { of: Hidden::Card });
        add(&hidden, "face down: you do not see it", "暗牌：你看不到");
    }
    lines.join("\n") + "\n\n"
}

pub(super) const fn form_keys(language: Language) -> &'static str {
    language.pick(
        "up/down setting, left/right choose, or type",
        "上下键换项，左右键选择，或直接输入",
    )
}

pub(super) const fn begin(language: Language) -> &'static str {
    language.pick("begin", "开始")
}

pub(super) const fn choices(language: Language) -> &'static str {
    language.pick("Choices (left, right, or click):", "可选（左右键或点击）：")
}

pub(super) const fn page_keys(language: Language) -> &'static str {
    language.pick(
        "up, down, PageUp, PageDown: scroll  Esc back",
        "上下键、PageUp、PageDown 翻页  Esc 返回",
    )
}

/// The button that plays what is chosen.
pub(super) const fn play_chosen(language: Language) -> &'static str {
    language.pick("play", "出牌")
}

pub(super) const fn moves(language: Language) -> &'static str {
    language.pick("moves", "着法")
}

pub(super) fn to_move(language: Language, who: &str) -> String {
    match language {
        Language::En => format!("{who} to move"),
        Language::Zh => format!("轮到 {who}"),
    }
}

pub(super) fn thinking(language: Language, bots: &[String]) -> String {
    match (language, bots) {
        (Language::En, [bot]) => format!("{bot} is thinking"),
        (Language::En, _) => "the others are thinking".to_owned(),
        (Language::Zh, [bot]) => format!("{bot} 正在思考……"),
        (Language::Zh, _) => "其他人正在思考……".to_owned(),
    }
}

pub(super) const fn starting(language: Language) -> &'static str {
    language.pick("the bots are being started", "正在启动机器人……")
}

pub(super) const fn stopping(language: Language) -> &'static str {
    language.pick("the bots are being stopped", "正在停止机器人……")
}

pub(super) const fn is_over(language: Language) -> &'static str {
    language.pick("the game is over", "对局结束")
}

pub(super) fn seconds_left(language: Language, seconds: u64) -> String {
    match language {
        Language::En => format!("{seconds} s left"),
        Language::Zh => format!("剩 {seconds} 秒"),
    }
}

/// Prompt of an input line.
pub(super) fn prompt(language: Language, command: Option<Command>) -> &'static str {
    match command {
        None => language.pick("move> ", "着法> "),
        Some(Command::Record) => language.pick("record to file> ", "记录写入文件> "),
        Some(_) => language.pick("save to file> ", "局面写入文件> "),
    }
}

/// `y` saves too, where that can be.
pub(super) const fn is_leaving(language: Language, can_be_saved: bool) -> &'static str {
    match can_be_saved {
        true => language.pick(
            "Leave the game? y save it and leave, d leave, n stay",
            "离开对局？y 保存并离开，d 直接离开，n 留下",
        ),
        false => language.pick(
            "Leave the game? It can't be saved. y / n",
            "离开对局？无法保存。y / n",
        ),
    }
}

pub(super) fn goes_on(language: Language, file: &Path) -> String {
    let file = printable(&file.to_string_lossy());
    match language {
        Language::En => format!("The game is saved: `arena play {file}` goes on with it."),
        Language::Zh => format!("对局已保存：用 `arena play {file}` 继续。"),
    }
}

pub(super) const fn is_resigning(language: Language) -> &'static str {
    language.pick("Resign? y / n", "确定认输？y / n")
}

pub(super) fn too_small(language: Language, needed: (u16, u16), found: (u16, u16)) -> String {
    let ((width, height), (columns, rows)) = (needed, found);
    match language {
        Language::En => format!(
            "The terminal is too small: expected at least {width}x{height}, found {columns}x{rows}. \
             Make it larger, or use --plain."
        ),
        Language::Zh => format!(
            "终端太小：至少需要 {width}x{height}，现为 {columns}x{rows}。请放大窗口，或使用 --plain。"
        ),
    }
}

pub(super) const fn drawn(language: Language) -> &'static str {
    language.pick("random", "随机")
}

/// The value of the setting of the others.
pub(super) const fn people(language: Language) -> &'static str {
    language.pick("people", "真人")
}

/// Remark that these people share one terminal.
pub(super) const fn at_this_terminal(language: Language) -> &'static str {
    language.pick(" at this terminal", "（在同一终端上）")
}

/// The name of somebody whose name nobody has said.
pub(super) fn guest(language: Language, seat: u8) -> String {
    match language {
        Language::En => format!("player-{seat}"),
        Language::Zh => format!("玩家{seat}"),
    }
}

pub(super) fn wrong_number_of_bots(language: Language, others: usize, found: usize) -> String {
    match language {
        Language::En if others == 1 => format!("expected 1 bot, found {found}"),
        Language::En => format!("expected 1 bot or {others}, found {found}"),
        Language::Zh => format!("应有 1 个或 {others} 个机器人，现有 {found} 个"),
    }
}

pub(super) fn no_setup(language: Language, error: &str) -> String {
    match language {
        Language::En => format!("--setup: {error}"),
        Language::Zh => format!("开局设置无效：{error}"),
    }
}

pub(super) fn no_seat(language: Language, found: &str, seats: u8) -> String {
    let last = seats - 1;
    match language {
        Language::En => format!("seat {found}: expected 0 to {last}, or random"),
        Language::Zh => format!("座位 {found}：应为 0 到 {last}，或 random"),
    }
}

/// The values of a setting that is on or off.
pub(super) const fn yes_or_no(language: Language, yes: bool) -> &'static str {
    match yes {
        true => language.pick("yes", "是"),
        false => language.pick("no", "否"),
    }
}

pub(super) fn neither_yes_nor_no(language: Language, found: &str) -> String {
    match language {
        Language::En => format!("\"{found}\": expected yes or no"),
        Language::Zh => format!("“{found}”：应为“是”或“否”"),
    }
}

pub(super) fn no_setting(language: Language, found: &str, keys: &[String]) -> String {
    let known = known(keys);
    match language {
        Language::En => format!("there is no setting \"{found}\"; expected {known}"),
        Language::Zh => format!("没有设置“{found}”；可用：{known}"),
    }
}

pub(super) fn no_value(language: Language, found: &str, keys: &[String]) -> String {
    let known = known(keys);
    match language {
        Language::En => format!(
            "\"{found}\": expected a setting and its value ({known}), `rules`, `bots`, `help`, \
             `quit`, or Enter to begin"
        ),
        Language::Zh => format!(
            "“{found}”：应为设置和它的值（{known}），或 `rules`、`bots`、`help`、`quit`，或按回车开始"
        ),
    }
}

fn known(keys: &[String]) -> String {
    let fixed = SETTINGS.iter().map(|(name, _)| *name);
    let keys = keys.iter().map(String::as_str);
    fixed.chain(keys).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_in_both_languages() {
        assert_eq!(command("BACK"), Some((Command::Back, "")));
        assert_eq!(command("悔棋"), Some((Command::Back, "")));
        assert_eq!(command("save a b.txt "), Some((Command::Save, "a b.txt")));
        assert_eq!(command("d3"), None);
    }

    #[test]
    fn no_command_is_a_move_too() {
        for (_, words) in COMMANDS {
            for word in *words {
                assert!(!["pass", "win"].contains(word));
            }
        }
    }
}
