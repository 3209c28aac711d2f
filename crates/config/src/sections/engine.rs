//! `[engine]`: the models that run on this machine.

use std::path::PathBuf;
use std::time::Duration;

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

const THREADS_MAX: i64 = 1024;
const DAY_S: i64 = 86_400;

pub const SECTION: Section = Section {
    name: "engine",
    form: Form::One,
    doc: "The models that run on this machine, in a child process.",
    keys: &[
        Key::with_default(
            "local",
            Kind::Choice(&["auto", "off"]),
            "\"auto\"",
            "`auto` starts the built-in engine when a model needs it.",
        ),
        Key::with_default(
            "models_dir",
            Kind::Path,
            "\"models\"",
            "Where weights are kept, relative to the data directory.",
        ),
        Key::with_default(
            "threads",
            Kind::Integer { least: 0, most: THREADS_MAX },
            "0",
            "Threads of the engine; 0 takes one per core.",
        ),
        Key::with_default(
            "idle_unload_s",
            Kind::Seconds { least: 0, most: 30 * DAY_S },
            "900",
            "Unloads a model that nobody asked for this long; 0 keeps it.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    pub local: Local,
    /// Relative to the data directory.
    pub models_dir: PathBuf,
    /// None: one per core.
    pub threads: Option<usize>,
    /// None: never.
    pub idle_unload: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Local {
    Auto,
    Off,
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Engine> {
    let local = reader.choice("local").map(|written| match written {
        "off" => Local::Off,
        _ => Local::Auto,
    });
    let models_dir = reader.path("models_dir");
    let threads = reader.integer("threads").and_then(|threads| usize::try_from(threads).ok());
    let idle_unload = reader.seconds("idle_unload_s");
    Some(Engine {
        local: local?,
        models_dir: models_dir?,
        threads: threads.filter(|threads| 0 < *threads),
        idle_unload: idle_unload.filter(|idle| !idle.is_zero()),
    })
}
