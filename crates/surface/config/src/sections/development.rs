//! `[development]`: settings for a first run, to be turned off in production.

use money::Nano;

use crate::key_type::{AMOUNT, FLAG};
use crate::section_table::config_section;

config_section! {
    /// Settings for a first run. Disable them in production.
    #[section(One, "development")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DevelopmentConfig {
        /// Credits the account `default` on the first start, shows the host name in responses, and
        /// omits the default watermark of images.
        enabled: bool = FLAG, default(true);
        /// The amount of that credit in USD.
        "starting_credit_usd" => starting_credit: Nano = AMOUNT, default("10.00");
    }
}
