//! A game as it is seen and what is pressed in it. It knows no more than it is shown, and says what
//! is wanted; [`super::game`] does it.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    time::{Duration, Instant},
};

use arena_terminal::draw::Signs;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Position, Rect},
    style::{Modifier, Style},
    symbols::border,
    text::Line,
    widgets::{Block, Borders, Clear, Paragraph},
};
use referee_core::Scene;

use super::{
    super::{
        commands::{Commands, FEW},
        words::{self, Command},
    },
    board::{self, ClickTarget, Drawing, Marks, Room, Spot, cell_at},
    keys::{Binding, Key, OVER, PLAYING, WAITING},
    keys_lines,
    line::TypedLine,
    page::{TextPage, wrapped},
    too_small,
};

/// The narrowest and lowest terminal with which a game is played; a table that is higher is scrolled.
const SMALLEST: (u16, u16) = (60, 16);
/// Lines for messages, where there is room: a slip with the legal moves takes so many at 80 columns.
const MESSAGE_LINES: u16 = 3;
/// The height of a terminal that has room for them.
const HIGH: u16 = 24;
/// Lines of the table that messages leave.
const LEAST_TABLE: u16 = 6;

/// A person's wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// This move, as it was written.
    Play(String),
    /// This command, with the file that it is for.
    Run(Command, String),
    /// The next person looks now.
    SitDown,
    /// To save the game in this file, and leave.
    Save(PathBuf),
    /// To leave at once.
    Interrupt,
}

/// The request to the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GamePhase {
    /// Nothing: bots think.
    #[default]
    Waiting,
    /// To sit down, since hands are secret.
    HandOver,
    /// A move.
    Playing,
    /// A choice of what comes after the game.
    Over,
}

/// Content of the screen of a game.
#[derive(Default)]
pub(super) struct ShownGame {
    pub(super) phase: GamePhase,
    /// The player whose turn it is, or what else goes on.
    pub(super) status: String,
    pub(super) scene: Scene,
    /// The moves so far, each with who played it.
    pub(super) moves: Vec<String>,
    pub(super) legal: Vec<String>,
    /// Until when the move must be made.
    pub(super) deadline: Option<Instant>,
    /// True if there are moves, and more can be made: who leaves is asked first.
    pub(super) is_running: bool,
    /// The file that the game can be saved in; none where it can't go on later.
    pub(super) saved_in: Option<PathBuf>,
}

/// Question before a command is run.
enum Ask {
    /// Confirmation that they mean it.
    Resign,
    Leave,
    /// To which file.
    File(Command, TypedLine),
}

pub(super) struct GameView<'a> {
    commands: Commands<'a>,
    shown: ShownGame,
    /// The moves that no cells mean; where pieces are chosen, the button before them plays those.
    buttons: Vec<Button>,
    cursor: Option<Spot>,
    chosen: BTreeSet<Spot>,
    line: TypedLine,
    ask: Option<Ask>,
    page: Option<TextPage>,
    message: String,
    /// Number of lines at the end of the list of moves that are out of sight.
    moves_below: usize,
    /// The first line of the table that is seen, where it has no room.
    top: u16,
    /// True if the cursor is to be in sight.
    follows: bool,
    /// The letters with which names of cells have begun: they are typed, and run no commands.
    letters: BTreeSet<char>,
    /// Places of the things of the table, also of those that are out of sight, from its first line.
    targets: Vec<ClickTarget>,
    /// Where the table was drawn last.
    table: Rect,
    keys: Vec<(Rect, Command)>,
}

#[derive(Clone, PartialEq, Eq)]
enum Button {
    Chosen,
    Move(String),
}

impl<'a> GameView<'a> {
    pub(super) fn new(commands: Commands<'a>) -> Self {
        Self {
            commands,
            shown: ShownGame::default(),
            buttons: Vec::new(),
            cursor: None,
            chosen: BTreeSet::new(),
            line: TypedLine::default(),
            ask: None,
            page: None,
            message: String::new(),
            moves_below: 0,
            top: 0,
            follows: true,
            letters: BTreeSet::new(),
            targets: Vec::new(),
            table: Rect::default(),
            keys: Vec::new(),
        }
    }

    /// Shows this from now on. What was typed stays while a move is asked for, what was chosen while
    /// the table is the same.
    pub(super) fn show(&mut self, shown: ShownGame) {
        if shown.phase != GamePhase::Playing {
            self.line = TypedLine::default();
        }
        let is_leaving = matches!(self.ask, Some(Ask::Leave)) && shown.is_running;
        if shown.phase != self.shown.phase && !is_leaving {
            self.ask = None;
        }
        if shown.scene != self.shown.scene {
            self.chosen.clear();
        }
        self.moves_below = 0;
        self.follows = true;
        self.buttons.clear();
        if !shown.legal.is_empty() {
            let others = board::without_cells(&shown.scene, &shown.legal);
            if board::has_hand(&shown.scene) && others.len() < shown.legal.len() {
                self.buttons.push(Button::Chosen);
            }
            self.buttons.extend(others.into_iter().map(Button::Move));
            let cells = shown.scene.areas.iter().flat_map(|area| &area.cells);
            let first = cells.filter_map(|cell| cell.says.chars().next());
            self.letters.extend(first.flat_map(char::to_lowercase));
        }
        self.shown = shown;
        let is_there = |spot: Spot| match spot {
            Spot::Button(at) => at < self.buttons.len(),
            Spot::Cell { .. } => {
                cell_at(&self.shown.scene, spot).is_some_and(|(_, cell)| !cell.says.is_empty())
            }
        };
        if !self.cursor.is_some_and(is_there) {
            self.cursor = self.first_legal();
        }
    }

    /// First place of the cursor.
    fn first_legal(&self) -> Option<Spot> {
        let scene = &self.shown.scene;
        let cells = scene.areas.iter().enumerate().flat_map(|(area, one)| {
            (0..one.cells.len()).map(move |cell| Spot::Cell { area, cell })
        });
        let mut legal = cells.filter(|spot| {
            cell_at(scene, *spot)
                .is_some_and(|(_, cell)| board::is_of_a_move(&self.shown.legal, &cell.says))
        });
        let button = (!self.buttons.is_empty()).then_some(Spot::Button(0));
        legal.next().or(button)
    }

    /// Asks for nothing until something else is shown.
    pub(super) fn wait(&mut self, status: String) {
        self.shown.phase = GamePhase::Waiting;
        self.shown.status = status;
    }

    /// The same: somebody leaves, and is not asked any more.
    pub(super) fn leave(&mut self, status: &str) {
        self.shown.is_running = false;
        self.ask = None;
        self.wait(status.to_owned());
    }

    /// Says something until the next thing is said.
    pub(super) fn say(&mut self, message: impl Into<String>) {
        self.message = message.into();
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.shown.deadline
    }

    fn bindings(&self) -> &'static [Binding] {
        match self.shown.phase {
            GamePhase::Waiting | GamePhase::HandOver => WAITING,
            GamePhase::Playing => PLAYING,
            GamePhase::Over => OVER,
        }
    }

    /// True if a letter begins a move, so that it is typed.
    fn is_typed(&self, letter: char) -> bool {
        self.shown.phase != GamePhase::Over && self.letters.contains(&letter)
    }

    pub(super) fn press(&mut self, key: Key) -> Option<Intent> {
        match key {
            Key::Gone => return Some(Intent::Interrupt),
            // Once more leaves at once.
            Key::Interrupt if matches!(self.ask, Some(Ask::Leave)) => {
                return Some(Intent::Interrupt);
            }
            Key::Interrupt if self.shown.is_running => {
                self.page = None;
                self.ask = Some(Ask::Leave);
                return None;
            }
            Key::Interrupt => return Some(Intent::Interrupt),
            _ => {}
        }
        if let Some(page) = &mut self.page {
            if !page.press(key) {
                self.page = None;
            }
            return None;
        }
        if let Some(ask) = self.ask.take() {
            return self.answer(ask, key);
        }
        let pressed = match key {
            Key::Click(position) => {
                let found = self.keys.iter().find(|(area, _)| area.contains(position));
                found.map(|(_, command)| *command)
            }
            _ if self.line.is_empty() || !matches!(key, Key::Letter(_)) => {
                let bindings = self.bindings().iter();
                let mut found = bindings.filter(|one| one.is_run_by(key, |it| self.is_typed(it)));
                found.next().map(|binding| binding.command)
            }
            _ => None,
        };
        if let Some(command) = pressed {
            return self.run(command, "");
        }
        match key {
            Key::PageUp | Key::WheelUp => self.moves_below += 3,
            Key::PageDown | Key::WheelDown => {
                self.moves_below = self.moves_below.saturating_sub(3);
            }
            Key::Enter if self.shown.phase == GamePhase::HandOver => return Some(Intent::SitDown),
            _ if self.shown.phase == GamePhase::Playing => return self.press_to_move(key),
            Key::Up | Key::Down => self.scroll(key),
            _ => {}
        }
        None
    }

    /// Scrolls the table by a line, where it has no room.
    const fn scroll(&mut self, arrow: Key) {
        self.top = match arrow {
            Key::Up => self.top.saturating_sub(1),
            // As far as there are lines.
            _ => self.top + 1,
        };
    }

    /// A key of somebody who is to move.
    fn press_to_move(&mut self, key: Key) -> Option<Intent> {
        match key {
            Key::Click(position) => {
                let spot = self.spot_at(position)?;
                return self.click(spot);
            }
            Key::Escape => {
                self.line = TypedLine::default();
                self.chosen.clear();
                self.message.clear();
            }
            Key::Enter if !self.line.is_empty() => return self.enter_line(),
            Key::Enter => return self.play_cursor(),
            Key::Letter(' ') if self.line.is_empty() => {
                if let Some(spot) = self.cursor {
                    self.choose(spot);
                }
            }
            Key::Up | Key::Down => self.move_cursor(key),
            Key::Left | Key::Right if self.line.is_empty() => self.move_cursor(key),
            Key::Tab | Key::BackTab => self.next_button(),
            _ => drop(self.line.press(key)),
        }
        None
    }

    fn move_cursor(&mut self, arrow: Key) {
        let next = self
            .cursor
            .and_then(|from| board::next_target(&self.targets, from, arrow));
        match next {
            Some(to) => {
                self.cursor = Some(to);
                self.follows = true;
            }
            None => self.scroll(arrow),
        }
    }

    /// To the next button, and behind the last one back to the table.
    fn next_button(&mut self) {
        self.follows = true;
        let next = match self.cursor {
            Some(Spot::Button(at)) => at + 1,
            _ => 0,
        };
        self.cursor = match next < self.buttons.len() {
            true => Some(Spot::Button(next)),
            false => self.first_legal(),
        };
    }

    /// The thing of the table at a position of the screen.
    fn spot_at(&self, position: Position) -> Option<Spot> {
        let in_table = self.table.contains(position).then(|| Position {
            x: position.x - self.table.x,
            y: position.y - self.table.y + self.top,
        });
        board::target_at(&self.targets, in_table?)
    }

    /// A click plays on a board and a button; in a hand it chooses, and the second one plays a move
    /// of one piece.
    fn click(&mut self, spot: Spot) -> Option<Intent> {
        let in_hand = self.in_hand(spot);
        let plays_alone = self.chosen.contains(&spot) && !self.moves_have_parts();
        self.cursor = Some(spot);
        if in_hand && !plays_alone {
            self.choose(spot);
            return None;
        }
        self.play_cursor()
    }

    fn in_hand(&self, spot: Spot) -> bool {
        let found = cell_at(&self.shown.scene, spot);
        found.is_some_and(|(area, _)| !area.shape.is_board())
    }

    /// True if a move can be of several pieces.
    fn moves_have_parts(&self) -> bool {
        let mut legal = self.shown.legal.iter();
        legal.any(|one| one.contains(' ') && !self.buttons.contains(&Button::Move(one.clone())))
    }

    /// Chooses a piece of a hand, or no longer. Where moves are of one piece, it is the only one.
    fn choose(&mut self, spot: Spot) {
        if !self.in_hand(spot) || self.chosen.remove(&spot) {
            return;
        }
        if !self.moves_have_parts() {
            self.chosen.clear();
        }
        self.chosen.insert(spot);
    }

    /// Plays what is chosen, or else what the cursor is on.
    fn play_cursor(&self) -> Option<Intent> {
        let cursor = self.cursor?;
        let name = |spot: &Spot| {
            let found = cell_at(&self.shown.scene, *spot);
            found.map(|(_, cell)| cell.says.clone())
        };
        let chosen: Vec<String> = self.chosen.iter().filter_map(name).collect();
        let written = match (cursor, cell_at(&self.shown.scene, cursor)) {
            (Spot::Button(at), _) => match self.buttons.get(at)? {
                Button::Chosen => chosen.join(" "),
                Button::Move(one) => one.clone(),
            },
            (Spot::Cell { .. }, _) if !chosen.is_empty() => chosen.join(" "),
            (Spot::Cell { cell, .. }, Some((area, _))) => {
                board::move_of_cell(area, cell, &self.shown.legal)
            }
            _ => return None,
        };
        Some(Intent::Play(written))
    }

    /// A line that was typed: a command, its letter, or a move.
    fn enter_line(&mut self) -> Option<Intent> {
        let line = self.line.take();
        self.message.clear();
        if let Some((command, rest)) = words::command(&line) {
            return self.run(command, rest);
        }
        let mut bindings = self.bindings().iter();
        match bindings.find(|binding| binding.is_letter(&line)) {
            Some(binding) => self.run(binding.command, ""),
            None if line.is_empty() => None,
            None => Some(Intent::Play(line)),
        }
    }

    /// Runs what needs no game, and asks for what a command needs.
    fn run(&mut self, command: Command, rest: &str) -> Option<Intent> {
        let Commands { language, kind, .. } = self.commands;
        match (self.shown.phase, command) {
            (_, Command::Help) => {
                let mut text = words::keys_help(language);
                let signs = self.commands.signs;
                text += &words::signs_help(language, signs, &self.shown.scene);
                text += &words::help(language, kind.info());
                text += &words::rules(language, kind.info());
                self.page = Some(TextPage::new(text));
            }
            (_, Command::Rules) => {
                self.page = Some(TextPage::new(words::rules(language, kind.info())));
            }
            (_, Command::Board) => {}
            (_, Command::Quit) if self.shown.is_running => self.ask = Some(Ask::Leave),
            (_, Command::Quit) => return Some(Intent::Run(command, String::new())),
            (GamePhase::Waiting | GamePhase::HandOver, _) => {}
            (_, Command::Legal) => {
                let legal = &self.shown.legal;
                let text = words::legal(language, legal);
                match legal.len() <= FEW {
                    true => self.say(text),
                    false => self.page = Some(TextPage::new(text)),
                }
            }
            (GamePhase::Playing, Command::Resign) => self.ask = Some(Ask::Resign),
            (GamePhase::Playing, Command::Again | Command::Settings | Command::Record) => {
                self.say(words::not_over(language));
            }
            (_, Command::Save | Command::Record) if rest.is_empty() => {
                self.ask = Some(Ask::File(command, TypedLine::default()));
            }
            (GamePhase::Over, Command::Hint | Command::Evaluate | Command::Resign) => {
                self.say(words::is_over(language));
            }
            (_, command) => return Some(Intent::Run(command, rest.to_owned())),
        }
        None
    }

    /// A key while something is asked.
    fn answer(&mut self, ask: Ask, key: Key) -> Option<Intent> {
        match (ask, key) {
            (Ask::Resign, Key::Letter('y' | 'Y')) => {
                return Some(Intent::Run(Command::Resign, String::new()));
            }
            (Ask::Leave, Key::Letter('y' | 'Y')) => {
                return Some(match self.shown.saved_in.clone() {
                    Some(file) => Intent::Save(file),
                    None => Intent::Run(Command::Quit, String::new()),
                });
            }
            (Ask::Leave, Key::Letter('d' | 'D')) => {
                return Some(Intent::Run(Command::Quit, String::new()));
            }
            (ask @ (Ask::Resign | Ask::Leave), Key::Resized | Key::Redraw) => self.ask = Some(ask),
            (Ask::Resign | Ask::Leave, _) | (_, Key::Escape) => {}
            (Ask::File(command, mut line), Key::Enter) => {
                return Some(Intent::Run(command, line.take()));
            }
            (Ask::File(command, mut line), key) => {
                line.press(key);
                self.ask = Some(Ask::File(command, line));
            }
        }
        None
    }

    pub(super) fn render(&mut self, frame: &mut Frame) {
        let area = frame.area();
        let language = self.commands.language;
        let (bar, places) = self.key_bar(area.width);
        let said = self.said(area, bar.len() as u16);
        let [title, body, message, input, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(said.len() as u16),
            Constraint::Length(1),
            Constraint::Length(bar.len() as u16),
        ])
        .areas(area);
        let (drawing, table, moves) = self.laid_out(body);
        let widest = drawing.lines.iter().map(Line::width).max().unwrap_or(0) as u16;
        let needed = (SMALLEST.0.max(widest), SMALLEST.1);
        if area.width < needed.0 || area.height < needed.1 {
            too_small(language, needed, frame);
            return;
        }
        self.render_table(drawing, frame, table);
        self.render_title(frame, title);
        self.render_moves(frame, moves);
        let said: Vec<Line> = said.into_iter().map(Line::raw).collect();
        frame.render_widget(Paragraph::new(said), message);
        self.render_input(frame, input);
        frame.render_widget(Paragraph::new(bar), keys);
        let moved = |(place, command): (Rect, Command)| {
            let y = place.y + keys.y;
            (Rect { y, ..place }, command)
        };
        self.keys = places.into_iter().map(moved).collect();
        if let Some(page) = &mut self.page {
            let last = Rect {
                y: area.bottom() - 1,
                height: 1,
                ..area
            };
            let body = Rect {
                height: area.height - 2,
                ..body
            };
            page.render(frame, body);
            frame.render_widget(Clear, last);
            frame.render_widget(Line::raw(words::page_keys(language)), last);
            frame.set_cursor_position(Position::new(last.right() - 1, last.y));
        }
    }

    /// The lines of the message. One for which there is no room is a page.
    fn said(&mut self, area: Rect, key_lines: u16) -> Vec<String> {
        let least = if area.height < HIGH { 1 } else { MESSAGE_LINES };
        // Beside it there are the title and the input.
        let most = area.height.saturating_sub(LEAST_TABLE + key_lines + 2);
        let mut said = wrapped(&self.message, area.width.into());
        if said.len() > most.into() {
            self.page = Some(TextPage::new(std::mem::take(&mut self.message)));
            said.clear();
        }
        said.resize(said.len().max(least.into()), String::new());
        said
    }

    /// The table, its place, and that of the moves: beside it, or below it where it has no room
    /// otherwise, or would be cut off.
    fn laid_out(&self, body: Rect) -> (Drawing, Rect, Rect) {
        // Enough for a name and a few cards.
        let side = if body.width >= 100 { 34 } else { 22 };
        let beside: [Rect; 2] =
            Layout::horizontal([Constraint::Min(1), Constraint::Length(side)]).areas(body);
        let below: [Rect; 2] =
            Layout::vertical([Constraint::Min(1), Constraint::Length(1)]).areas(body);
        let ways = [
            (beside, false),
            (beside, true),
            (below, false),
            (below, true),
        ];
        let mut laid_out = (Drawing::default(), body, body);
        for ([table, moves], folds) in ways {
            let width = usize::from(table.width);
            let drawing = self.drawing(Room { width, folds });
            let fits = drawing.lines.len() <= table.height.into()
                && drawing.lines.iter().all(|line| line.width() <= width);
            laid_out = (drawing, table, moves);
            if fits {
                break;
            }
        }
        laid_out
    }

    fn drawing(&self, room: Room) -> Drawing {
        let Commands {
            language, signs, ..
        } = self.commands;
        let labels = self.buttons.iter().map(|button| match button {
            Button::Chosen => words::play_chosen(language).to_owned(),
            Button::Move(one) => one.clone(),
        });
        let is_playing = self.shown.phase == GamePhase::Playing;
        let marks = Marks {
            legal: &self.shown.legal,
            chosen: &self.chosen,
            cursor: self.cursor.filter(|_| is_playing),
            buttons: &labels.collect::<Vec<_>>(),
        };
        Drawing::new(&self.shown.scene, signs, language, room, &marks)
    }

    /// Draws the lines of the table for which there is room, with the cursor among them.
    fn render_table(&mut self, drawing: Drawing, frame: &mut Frame, area: Rect) {
        let height = drawing.lines.len() as u16;
        let cursor = self.cursor.filter(|_| self.follows);
        let mut targets = drawing.targets.iter();
        if let Some(at) = targets.find(|target| Some(target.spot) == cursor) {
            let least = (at.area.y + 1).saturating_sub(area.height);
            self.top = self.top.clamp(least, at.area.y);
        }
        self.follows = false;
        self.top = self.top.min(height.saturating_sub(area.height));
        let top = self.top;
        self.targets = drawing.targets;
        self.table = area;
        frame.render_widget(Paragraph::new(drawing.lines).scroll((top, 0)), area);
        for (is_more, y, mark) in [
            (top > 0, area.y, "^"),
            (top + area.height < height, area.bottom() - 1, "v"),
        ] {
            if is_more {
                let place = Rect::new(area.right() - 1, y, 1, 1);
                frame.render_widget(Line::raw(mark), place);
            }
        }
    }

    fn render_title(&self, frame: &mut Frame, area: Rect) {
        let language = self.commands.language;
        let title = self.commands.kind.info().title_in(language);
        let mut status = self.shown.status.clone();
        if let Some(deadline) = self.shown.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            let seconds = seconds_left(left);
            status = format!("{status}, {}", words::seconds_left(language, seconds));
        }
        let bar = Style::new().add_modifier(Modifier::REVERSED);
        let status = Line::raw(format!(" {status} ")).right_aligned();
        frame.render_widget(Paragraph::new(format!(" {title}")).style(bar), area);
        let width = (status.width() as u16).min(area.width);
        let right = Rect {
            x: area.right() - width,
            width,
            ..area
        };
        frame.render_widget(Paragraph::new(status).style(bar), right);
    }

    /// The moves in a column beside the table, or the last ones in the line below it.
    fn render_moves(&mut self, frame: &mut Frame, area: Rect) {
        let label = words::moves(self.commands.language);
        if area.height == 1 {
            self.moves_below = self
                .moves_below
                .min(self.shown.moves.len().saturating_sub(1));
            let mut line = String::new();
            let end = self.shown.moves.len() - self.moves_below;
            for one in self.shown.moves[..end].iter().rev() {
                let longer = match line.is_empty() {
                    true => one.clone(),
                    false => format!("{one}; {line}"),
                };
                let width = Line::raw(format!("{label}: {longer}")).width();
                if width > area.width.into() && !line.is_empty() {
                    break;
                }
                line = longer;
            }
            frame.render_widget(Line::raw(format!("{label}: {line}")), area);
            return;
        }
        let vertical_left = match self.commands.signs {
            Signs::Ascii => "|",
            Signs::Unicode => border::PLAIN.vertical_left,
        };
        let block = Block::new()
            .borders(Borders::LEFT)
            .border_set(border::Set {
                vertical_left,
                ..border::PLAIN
            })
            .title(format!(" {label} "));
        let inner = block.inner(area);
        let width = usize::from(inner.width).saturating_sub(3).max(1);
        let mut lines = Vec::new();
        for one in &self.shown.moves {
            for (at, part) in wrapped(one, width).into_iter().enumerate() {
                let indent = if at == 0 { " " } else { "   " };
                lines.push(Line::raw(format!("{indent}{part}")));
            }
        }
        let most = usize::from(inner.height);
        self.moves_below = self.moves_below.min(lines.len().saturating_sub(most));
        lines.truncate(lines.len() - self.moves_below);
        let seen = lines.split_off(lines.len().saturating_sub(most));
        frame.render_widget(block, area);
        frame.render_widget(Paragraph::new(seen), inner);
    }

    fn render_input(&self, frame: &mut Frame, area: Rect) {
        let language = self.commands.language;
        match &self.ask {
            Some(Ask::Resign) => {
                frame.render_widget(Line::raw(words::is_resigning(language)), area);
            }
            Some(Ask::Leave) => {
                let can_be_saved = self.shown.saved_in.is_some();
                frame.render_widget(Line::raw(words::is_leaving(language, can_be_saved)), area);
            }
            Some(Ask::File(command, line)) => {
                line.render(words::prompt(language, Some(*command)), frame, area);
            }
            None if self.shown.phase == GamePhase::Playing => {
                self.line.render(words::prompt(language, None), frame, area);
            }
            None => {}
        }
    }

    /// The keys, on as many lines as they need, and where each is.
    fn key_bar(&self, width: u16) -> (Vec<Line<'static>>, Vec<(Rect, Command)>) {
        let shown = self.bindings().iter().map(|binding| {
            let key = binding.key(|letter| self.is_typed(letter));
            let label = words::key_label(self.commands.language, binding.command);
            (key, label, binding.command)
        });
        keys_lines(shown, width)
    }
}

/// Seconds that are left, of which the last one has begun.
fn seconds_left(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};
    use referee_core::{
        Area, CardSuit, Cell, Hidden, Language, Piece, Seat, Shape, Surface, Words,
    };
    use referee_games::GAMES;

    use super::*;

    fn view(shown: ShownGame) -> GameView<'static> {
        let mut view = GameView::new(Commands {
            language: Language::En,
            signs: Signs::Ascii,
            kind: GAMES[0],
            hints: "random",
        });
        view.show(shown);
        view
    }

    fn area(seat: u8, shape: Shape, cells: Vec<Cell>) -> Area {
        Area {
            label: Words::new(format!("seat {seat}"), ""),
            seat: Some(Seat::new(seat)),
            shape,
            cells,
        }
    }

    fn shown(areas: Vec<Area>, legal: &[&str]) -> ShownGame {
        ShownGame {
            phase: GamePhase::Playing,
            scene: Scene {
                areas,
                captions: Vec::new(),
                nearest: None,
            },
            legal: legal.iter().map(|&one| one.to_owned()).collect(),
            ..ShownGame::default()
        }
    }

    fn cards(ranks: impl IntoIterator<Item = u8>) -> Vec<Cell> {
        let card = |rank| {
            let suit = CardSuit::Spades;
            Cell::new(Piece::Card { rank, suit }).says(format!("{rank}S"))
        };
        ranks.into_iter().map(card).collect()
    }

    fn hand(legal: &[&str]) -> GameView<'static> {
        view(shown(vec![area(0, Shape::Row, cards(2..=9))], legal))
    }

    fn seen(view: &mut GameView, (width, height): (u16, u16)) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| view.render(frame)).unwrap();
        terminal.backend().to_string()
    }

    fn presses(view: &mut GameView, keys: &[Key]) -> Option<Intent> {
        keys.iter().filter_map(|key| view.press(*key)).last()
    }

    fn plays(written: &str) -> Option<Intent> {
        Some(Intent::Play(written.to_owned()))
    }

    /// A click on the place of this text.
    fn place(seen: &str, text: &str) -> Key {
        let mut lines = seen.lines().enumerate();
        let found = lines.find_map(|(y, line)| Some((line.split_once(text)?.0, y)));
        let (before, y) = found.expect(text);
        // Each line begins with a quotation mark.
        let x = before.chars().count() - 1;
        Key::Click(Position::new(x as u16, y as u16))
    }

    #[test]
    fn four_full_hands_fit_a_usual_terminal() {
        let hands = (0..4).map(|seat| area(seat, Shape::Row, cards((1..=13).chain([10, 10, 10]))));
        let trick = area(0, Shape::Row, cards([10; 5]));
        let areas = std::iter::once(trick).chain(hands).collect();
        let mut view = view(shown(areas, &["2S", "pass"]));
        let seen = seen(&mut view, (80, 24));
        assert!(seen.contains("[ pass ]"), "{seen}");
    }

    #[test]
    fn a_small_terminal_is_said_to_be_too_small() {
        let cells = vec![Cell::new(Piece::Empty).says("a1"); 144];
        let board = Shape::Board {
            surface: Surface::Plain,
            rows: vec![String::new(); 12],
            columns: vec![String::new(); 12],
        };
        let mut view = view(shown(vec![area(0, board, cells)], &["a1"]));
        assert!(!seen(&mut view, (80, 24)).contains("too small"));
        let low = seen(&mut view, (80, 15));
        assert!(low.contains("at least 60x16, found 80x15"), "{low}");
        let narrow = seen(&mut view, (30, 24));
        assert!(narrow.contains("too small"), "{narrow}");
    }

    fn board_of_12() -> Area {
        let rows: Vec<String> = (0..12).map(|row| row.to_string()).collect();
        let cells = rows
            .iter()
            .map(|row| Cell::new(Piece::Empty).says(format!("{row}!")));
        let cells = cells.flat_map(|cell| vec![cell; 12]).collect();
        let board = Shape::Board {
            surface: Surface::Plain,
            columns: rows.clone(),
            rows,
        };
        area(0, board, cells)
    }

    #[test]
    fn a_board_has_room_where_the_moves_are_in_a_line_below_it() {
        let mut all = shown(vec![board_of_12()], &["0!"]);
        all.moves = ["you (X): 1!", "it (O): 2!"].map(str::to_owned).to_vec();
        let mut view = view(all);
        let seen = seen(&mut view, (60, 20));
        assert!(seen.contains("\" 11  . "), "{seen}");
        assert!(seen.contains("moves: you (X): 1!; it (O): 2!"), "{seen}");
        // All keys are there, on two lines.
        assert!(
            seen.contains(" evaluate") && seen.contains(" quit"),
            "{seen}"
        );
        assert_eq!(
            view.press(place(&seen, " evaluate")),
            Some(Intent::Run(Command::Evaluate, String::new()))
        );
    }

    #[test]
    fn a_table_without_room_is_scrolled() {
        let mut view = view(shown(vec![board_of_12()], &["11!"]));
        // The cursor is on what is legal.
        let below = seen(&mut view, (60, 16));
        assert!(
            below.contains("\" 11  + ") && !below.contains("\"  0  "),
            "{below}"
        );
        for _ in 0..14 {
            view.press(Key::Up);
            seen(&mut view, (60, 16));
        }
        let above = seen(&mut view, (60, 16));
        assert!(
            above.contains("\"  0  .") && above.contains("\"     0  1"),
            "{above}"
        );
        assert!(!above.contains("\" 11  "), "{above}");
    }

    #[test]
    fn four_hands_fit_a_small_terminal_and_long_moves_are_whole() {
        let hidden = vec![Cell::new(Piece::FaceDown { of: Hidden::Card }); 13];
        let mut areas = vec![area(3, Shape::Row, cards([10; 5]))];
        areas.extend((1..4).map(|seat| area(seat, Shape::Row, hidden.clone())));
        areas.push(area(0, Shape::Row, cards((1..=13).chain([10]))));
        let mut all = shown(areas, &["2S", "pass"]);
        all.moves = vec!["somebody: 3S 4S 5S 6S 7S 8S".to_owned()];
        let mut view = view(all);
        let seen = seen(&mut view, (60, 20));
        for text in [
            "seat 1  ? x13",
            "seat 3  ? x13",
            "[ pass ]",
            " 10S",
            "7S 8S",
        ] {
            assert!(seen.contains(text), "{text}\n{seen}");
        }
    }

    #[test]
    fn a_long_message_takes_the_lines_that_it_needs() {
        let mut view = hand(&["2S"]);
        view.say("one\ntwo\nthree\nfour\nfive");
        assert!(seen(&mut view, (60, 20)).contains("five"));
        view.say("line\n".repeat(30) + "last");
        assert!(seen(&mut view, (60, 20)).contains("Esc back"));
        view.press(Key::End);
        assert!(seen(&mut view, (60, 20)).contains("last"));
    }

    #[test]
    fn who_leaves_a_running_game_is_asked_first() {
        let asked = || {
            let areas = vec![area(0, Shape::Row, cards(2..=9))];
            let mut view = view(ShownGame {
                is_running: true,
                saved_in: Some("game.json".into()),
                ..shown(areas, &["2S"])
            });
            assert_eq!(view.press(Key::Letter('q')), None);
            let seen = seen(&mut view, (60, 20));
            assert!(
                seen.contains("Leave the game?") && seen.contains("n stay"),
                "{seen}"
            );
            view
        };
        let quit = Some(Intent::Run(Command::Quit, String::new()));
        let saved = Some(Intent::Save("game.json".into()));
        assert_eq!(asked().press(Key::Letter('y')), saved);
        assert_eq!(asked().press(Key::Letter('d')), quit);
        assert_eq!(asked().press(Key::Interrupt), Some(Intent::Interrupt));
        assert_eq!(asked().press(Key::Gone), Some(Intent::Interrupt));
        let mut view = asked();
        assert_eq!(view.press(Key::Letter('n')), None);
        assert!(!seen(&mut view, (60, 20)).contains("Leave the game?"));
        // Ctrl-C asks too, also while a page is read; the question stays when a bot moves.
        view.press(Key::Function(1));
        assert_eq!(view.press(Key::Interrupt), None);
        view.show(ShownGame {
            is_running: true,
            ..ShownGame::default()
        });
        assert!(seen(&mut view, (60, 20)).contains("can't be saved"));
        assert_eq!(view.press(Key::Letter('y')), quit);
        // Nothing is lost of a game that is over.
        view.show(ShownGame {
            phase: GamePhase::Over,
            ..ShownGame::default()
        });
        assert_eq!(view.press(Key::Letter('q')), quit);
    }

    #[test]
    fn the_help_says_what_the_signs_mean() {
        let mut board = board_of_12();
        board.cells[0] = Cell::new(Piece::Blocked);
        let mut view = view(shown(vec![board], &["0!"]));
        view.press(Key::Function(1));
        let help = seen(&mut view, (80, 60));
        for text in [
            "+              a square",
            "#              a cell that nobody",
            "[O]  ",
        ] {
            assert!(help.contains(text), "{text}\n{help}");
        }
        assert!(!help.contains("face down"), "{help}");
    }

    #[test]
    fn cards_are_chosen_and_played_together() {
        let mut view = hand(&["2S", "2S 4S", "pass"]);
        seen(&mut view, (80, 24));
        let keys = [Key::Letter(' '), Key::Right, Key::Right, Key::Letter(' ')];
        assert_eq!(presses(&mut view, &keys), None);
        assert!(seen(&mut view, (80, 24)).contains("<2S> 3S <4S>"));
        assert_eq!(view.press(Key::Enter), plays("2S 4S"));
        // A second time it is not chosen any more.
        assert_eq!(view.press(Key::Letter(' ')), None);
        assert_eq!(view.press(Key::Enter), plays("2S"));
        let seen = seen(&mut view, (80, 24));
        assert_eq!(view.press(place(&seen, "5S")), None);
        assert_eq!(view.press(place(&seen, "[ play ]")), plays("2S 5S"));
        assert_eq!(view.press(place(&seen, "[ pass ]")), plays("pass"));
    }

    #[test]
    fn where_a_move_is_one_piece_a_second_click_plays_it() {
        let mut view = hand(&["2S", "3S"]);
        let before = seen(&mut view, (80, 24));
        assert_eq!(view.press(place(&before, "2S")), None);
        assert_eq!(view.press(place(&before, "3S")), None);
        let after = seen(&mut view, (80, 24));
        assert!(after.contains(" 2S <3S>"), "{after}");
        assert_eq!(view.press(place(&before, "3S")), plays("3S"));
    }

    #[test]
    fn the_only_button_is_played_by_enter() {
        assert_eq!(hand(&["pass"]).press(Key::Enter), plays("pass"));
    }

    #[test]
    fn moves_and_commands_are_typed() {
        let mut view = hand(&["2S"]);
        let keys = |line: &str| -> Vec<Key> {
            let letters = line.chars().map(Key::Letter);
            letters.chain([Key::Enter]).collect()
        };
        assert_eq!(presses(&mut view, &keys("2s h")), plays("2s h"));
        assert_eq!(presses(&mut view, &keys("win")), plays("win"));
        let back = Some(Intent::Run(Command::Back, String::new()));
        assert_eq!(presses(&mut view, &keys("2")), plays("2"));
        assert_eq!(presses(&mut view, &keys("undo")), back);
        let saved = Some(Intent::Run(Command::Save, "a b".to_owned()));
        assert_eq!(presses(&mut view, &keys("/")), plays("/"));
        assert_eq!(presses(&mut view, &keys("SAVE a b")), saved);
        // It asks for the name of the file.
        assert_eq!(
            presses(&mut view, &keys("sx")),
            Some(Intent::Run(Command::Save, "x".to_owned()))
        );
        assert_eq!(view.press(Key::Interrupt), Some(Intent::Interrupt));
    }

    #[test]
    fn while_a_bot_thinks_there_is_only_leaving_and_reading() {
        let mut view = view(ShownGame {
            status: "it is thinking".to_owned(),
            ..ShownGame::default()
        });
        let seen = seen(&mut view, (80, 24));
        assert!(seen.contains("it is thinking"), "{seen}");
        let keys = [
            Key::Letter('h'),
            Key::Enter,
            Key::Letter('r'),
            Key::Function(3),
        ];
        assert_eq!(presses(&mut view, &keys), None);
        let quit = Some(Intent::Run(Command::Quit, String::new()));
        assert_eq!(view.press(Key::Letter('q')), quit);
        view.press(Key::Function(1));
        // This closes the page.
        assert_eq!(view.press(Key::Letter('q')), None);
        assert_eq!(view.press(place(&seen, " quit")), quit);
    }

    #[test]
    fn what_was_typed_for_a_move_is_no_part_of_a_later_command() {
        let mut view = hand(&["2S"]);
        presses(&mut view, &[Key::Letter('2'), Key::Function(4)]);
        assert!(seen(&mut view, (80, 24)).contains("Resign?"));
        view.show(ShownGame {
            phase: GamePhase::Over,
            ..ShownGame::default()
        });
        let again = Some(Intent::Run(Command::Again, String::new()));
        assert_eq!(view.press(Key::Letter('a')), again);
    }

    #[test]
    fn older_moves_are_scrolled_to() {
        let mut all = shown(Vec::new(), &[]);
        all.moves = (0..40).map(|number| format!("move {number}.")).collect();
        let mut view = view(all);
        assert!(seen(&mut view, (80, 24)).contains("move 39."));
        for _ in 0..20 {
            view.press(Key::PageUp);
        }
        let first = seen(&mut view, (80, 24));
        assert!(
            first.contains("move 0.") && !first.contains("move 39."),
            "{first}"
        );
        view.press(Key::WheelDown);
        assert!(!seen(&mut view, (80, 24)).contains("move 0."));
    }
}
