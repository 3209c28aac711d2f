//! `[development]`: conveniences for a first run, to be turned off in production.

use money::Nano;

use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

pub const SECTION: ConfigSection = ConfigSection {
    name: "development",
    form: SectionForm::One,
    doc: "Conveniences for a first run. Disable them in production.",
    keys: &[
        ConfigKey::with_default(
            "enabled",
            ValueKind::Flag,
            "true",
            "Credits the account `default` on the first start.",
        ),
        ConfigKey::with_default(
            "starting_credit_usd",
            ValueKind::Decimal,
            "\"10.00\"",
            "The amount of that credit in USD.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevelopmentConfig {
    pub enabled: bool,
    pub starting_credit: Nano,
}

pub(crate) fn read_development_config(reader: &TableReader<'_>) -> Option<DevelopmentConfig> {
    let enabled = reader.flag("enabled");
    let starting_credit = reader.decimal("starting_credit_usd", Nano::parse);
    Some(DevelopmentConfig { enabled: enabled?, starting_credit: starting_credit? })
}
