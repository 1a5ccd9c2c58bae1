//! The strategy's object: loads it, calls it, and scales its clock. The only unsafe
//! code of the project is here. Whatever the object does affects only a process that
//! plays one game and holds nothing else.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_long, c_void},
    num::NonZeroU32,
    os::unix::ffi::OsStrExt as _,
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL, RTLD_NOW};
use nix::{
    sys::signal::{SigHandler, Signal, signal},
    time::{ClockId, clock_gettime},
};

use crate::{file::has_mangled, wire::PointQuestion};

/// Libraries that a strategy may use without naming them.
const ASSUMED_LIBRARIES: [&str; 2] = ["libstdc++.so.6", "libm.so.6"];

/// The interface, as a strategy's author must declare it.
const INTERFACE: &str = "a strategy exports extern \"C\" Point* getPoint(const int M, const int N, \
                         const int* top, const int* board, const int lastX, const int lastY, \
                         const int noX, const int noY) and extern \"C\" void clearPoint(Point*)";

/// `struct Point` of the classic interface.
#[repr(C)]
struct ClassicPoint {
    x: c_int,
    y: c_int,
}

type GetPointFunction = unsafe extern "C" fn(
    c_int,
    c_int,
    *const c_int,
    *const c_int,
    c_int,
    c_int,
    c_int,
    c_int,
) -> *mut ClassicPoint;

type ClearPoint = unsafe extern "C" fn(*mut ClassicPoint);

/// A strategy that is loaded. It is never unloaded: its process ends instead.
pub(crate) struct Object {
    get_point: GetPointFunction,
    clear_point: ClearPoint,
}

/// Reason why an object can't be played, in words.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// It can't be loaded.
    Refused(String),
    /// It is loaded, and lacks a function of the interface.
    Lacks(String),
}

/// The result of `getPoint`: its value, and the pointer that is to be cleared.
pub(crate) struct Returned {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pointer: *mut ClassicPoint,
}

impl Object {
    /// Loads it, with all that it needs.
    ///
    /// # Errors
    ///
    /// What was expected, in words.
    pub(crate) fn load(path: &Path) -> Result<Self, LoadError> {
        let shown = path.display();
        for name in ASSUMED_LIBRARIES {
            if let Err(error) = open(Path::new(name), RTLD_NOW | RTLD_GLOBAL) {
                eprintln!("note: {name} could not be loaded: {error}");
            }
        }
        // Without a slash it would be looked for among the system's libraries.
        let whole = std::path::absolute(path)
            .map_err(|error| LoadError::Refused(format!("{shown}: {error}")))?;
        let library = match open(&whole, RTLD_NOW | RTLD_LOCAL) {
            Ok(library) => library,
            Err(error) => {
                let library = open(&whole, RTLD_LAZY | RTLD_LOCAL).map_err(|_| {
                    LoadError::Refused(format!("{shown}: could not be loaded: {error}"))
                })?;
                eprintln!("warning: {error}; the strategy plays on until it calls what is missing");
                library
            }
        };
        let missing = |name: &str| {
            let hint = if has_mangled(path, name) {
                format!("; it has a C++ function {name}: declare it extern \"C\"")
            } else {
                String::new()
            };
            LoadError::Lacks(format!(
                "{shown}: it has no function {name}{hint}; {INTERFACE}"
            ))
        };
        #[expect(unsafe_code, reason = "a function's type is not in the object")]
        // SAFETY: these names have these types by the classic interface.
        let (get_point, clear_point) = unsafe {
            (
                library
                    .get::<GetPointFunction>("getPoint")
                    .map(|symbol| *symbol),
                library
                    .get::<ClearPoint>("clearPoint")
                    .map(|symbol| *symbol),
            )
        };
        let object = Self {
            get_point: get_point.map_err(|_| missing("getPoint"))?,
            clear_point: clear_point.map_err(|_| missing("clearPoint"))?,
        };
        std::mem::forget(library);
        Ok(object)
    }

    /// Calls `getPoint` and copies what it points to; none where it is NULL.
    #[inline(never)]
    pub(crate) fn get_point(&self, ask: &PointQuestion) -> Option<Returned> {
        let stop = StopExceptions;
        let pointer = call_get_point(self.get_point, ask);
        stop.here();
        #[expect(unsafe_code, reason = "the strategy is C++")]
        // SAFETY: the interface says that it points to a point. Where it does not,
        // this process ends, and with it the one game that it plays.
        let point = unsafe { pointer.as_ref() }?;
        Some(Returned {
            x: point.x,
            y: point.y,
            pointer,
        })
    }

    /// Calls `clearPoint`, once for each point that was returned.
    #[inline(never)]
    #[expect(clippy::needless_pass_by_value, reason = "it is gone after this")]
    pub(crate) fn clear_point(&self, returned: Returned) {
        let stop = StopExceptions;
        call_clear_point(self.clear_point, returned.pointer);
        stop.here();
    }
}

#[inline(never)]
extern "C" fn call_get_point(
    get_point: GetPointFunction,
    ask: &PointQuestion,
) -> *mut ClassicPoint {
    #[expect(unsafe_code, reason = "the strategy is C++")]
    // SAFETY: both arrays are as long as the interface says, and live until it
    // returns. What it does beyond that ends this process at worst, and with it the
    // one game that it plays.
    unsafe {
        get_point(
            ask.m,
            ask.n,
            ask.top.as_ptr(),
            ask.board.as_ptr(),
            ask.last_x,
            ask.last_y,
            ask.no_x,
            ask.no_y,
        )
    }
}

#[inline(never)]
extern "C" fn call_clear_point(clear_point: ClearPoint, pointer: *mut ClassicPoint) {
    #[expect(unsafe_code, reason = "the strategy is C++")]
    // SAFETY: the pointer is the strategy's own, and is handed back once. As above.
    unsafe {
        clear_point(pointer);
    }
}

/// Stops what a strategy throws, in a function that calls it by a function of type
/// `extern "C"`. Something is to be cleaned up there, so that function has a table
/// of what to do when a call unwinds; the call to the strategy is not in it, since
/// by its type it can't. So the search for a handler ends there, before
/// anything is unwound, and C++ ends the process with its own words: the
/// exception's type and text. Without the table the search would go on to Rust's
/// runtime, which ends the process without them. Such a function is never inlined, and
/// calls nothing else that unwinds: the compiler would take the calls for one range of
/// the table.
struct StopExceptions;

impl StopExceptions {
    /// For all that the compiler knows this may unwind, with the value still to be
    /// cleaned up.
    fn here(&self) {
        std::hint::black_box(nothing as fn())();
    }
}

impl Drop for StopExceptions {
    fn drop(&mut self) {
        std::hint::black_box(());
    }
}

fn nothing() {}

/// Restores the default action of a signal.
#[expect(clippy::disallowed_methods, reason = "the process is the strategy's")]
pub(crate) fn restore_default_handler(which: Signal) {
    #[expect(unsafe_code, reason = "a handler could do anything")]
    // SAFETY: this one is the system's own.
    let set = unsafe { signal(which, SigHandler::SigDfl) };
    if let Err(error) = set {
        eprintln!("note: {which} can't be left to the system: {error}");
    }
}

/// Writes out what the strategy has printed and the C library still holds.
pub(crate) fn flush() {
    #[expect(unsafe_code, reason = "it is the C library's")]
    // SAFETY: NULL means all streams.
    unsafe {
        nix::libc::fflush(std::ptr::null_mut());
    }
}

fn open(path: &Path, flags: c_int) -> Result<Library, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    let handle = stopped_open(&name, flags);
    if handle.is_null() {
        return Err(linker_words());
    }
    #[expect(unsafe_code, reason = "the handle is the linker's")]
    // SAFETY: it was opened just now, and is not shared.
    let library = unsafe { Library::from_raw(handle) };
    Ok(library)
}

/// The library for loading would do, but for what constructors throw.
#[inline(never)]
fn stopped_open(name: &CStr, flags: c_int) -> *mut c_void {
    let stop = StopExceptions;
    let handle = call_open(name.as_ptr(), flags);
    stop.here();
    handle
}

#[inline(never)]
extern "C" fn call_open(name: *const c_char, flags: c_int) -> *mut c_void {
    #[expect(unsafe_code, reason = "loading runs the object's own code")]
    // SAFETY: the name ends in a NUL. The object's own code can harm this process only.
    unsafe {
        nix::libc::dlopen(name, flags)
    }
}

/// The linker's message about the call that has just failed.
fn linker_words() -> String {
    #[expect(unsafe_code, reason = "it is the linker's")]
    // SAFETY: it is NULL or a text that lives until the linker is called again.
    unsafe {
        let words = nix::libc::dlerror();
        if words.is_null() {
            return "the linker does not say why".to_owned();
        }
        CStr::from_ptr(words).to_string_lossy().into_owned()
    }
}

static CLOCK_SCALE: AtomicU32 = AtomicU32::new(1);

/// The processor time of this process, `clock()` of the C library, divided by the
/// scale that was set. A symbol of the program comes before those of the libraries
/// that it loads, so a strategy's `clock()` is this one; for all other callers the
/// scale is 1, and then it is what the C library's is.
#[expect(unsafe_code, reason = "it takes the place of the C library's")]
// SAFETY: it has the type and, with a scale of 1, the meaning of the C library's.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn clock() -> c_long {
    let scale = c_long::from(CLOCK_SCALE.load(Ordering::Relaxed));
    match clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID) {
        Ok(time) => (time.tv_sec() * 1_000_000 + time.tv_nsec() / 1000) / scale,
        Err(_) => -1,
    }
}

/// Makes `clock()` so many times slower for what is loaded from now on.
///
/// # Errors
///
/// Where this program's `clock()` is not the one that would be found.
pub(crate) fn slow_clock(scale: NonZeroU32) -> Result<(), String> {
    CLOCK_SCALE.store(scale.get(), Ordering::Relaxed);
    let ours: extern "C" fn() -> c_long = clock;
    #[expect(unsafe_code, reason = "a function's type is not in the object")]
    // SAFETY: it is only compared.
    let found = unsafe { Library::this().get::<extern "C" fn() -> c_long>("clock") };
    match found {
        Ok(found) if *found as usize == ours as usize => Ok(()),
        _ => Err("clock-scale: this build of the arena can't take the place of clock()".to_owned()),
    }
}
