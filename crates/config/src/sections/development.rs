//! `[development]`: conveniences for a first run, to be turned off in production.

use money::Nano;

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub const SECTION: Section = Section {
    name: "development",
    form: Form::One,
    doc: "Comfort for a first run; turn it off in production.",
    keys: &[
        Key::with_default(
            "enabled",
            Kind::Flag,
            "true",
            "Gives the account `default` a starting credit on the first start.",
        ),
        Key::with_default(
            "starting_credit_usd",
            Kind::Decimal,
            "\"10.00\"",
            "How much that is, in USD.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Development {
    pub enabled: bool,
    pub starting_credit: Nano,
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Development> {
    let enabled = reader.flag("enabled");
    let starting_credit = reader.decimal("starting_credit_usd", Nano::parse);
    Some(Development { enabled: enabled?, starting_credit: starting_credit? })
}
