//! `[diem]`: staked DIEM as a daily allowance.

use crate::key::ConfigSection;
use crate::key_type::{SECRET_URL, TEXT};
use crate::reader::TableReader;
use crate::secret::SecretString;
use crate::section_table::{SectionTable, config_section};

config_section! {
    /// Staked DIEM as a daily allowance: 1 DIEM is 1 USD per day. Disabled unless `contract` is
    /// set; the operator then sets allowances with `tollgate accounts credit`.
    #[section(One, "diem")]
    pub(crate) struct DiemKeys {
        /// The staking contract, 0x and 40 digits. At startup and once a day, its `balanceOf`
        /// (18 decimals) is read for each wallet that paid or is linked to an account, and
        /// becomes the allowance of its owner.
        contract: Option<String> = TEXT, optional;
        /// The URL of a node of the contract's chain.
        rpc_url: Option<SecretString> = SECRET_URL, optional;
    }
}

/// The contract from which stakes are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiemConfig {
    pub contract: String,
    pub rpc_url: SecretString,
}

/// `None` if stakes are not read.
impl SectionTable for Option<DiemConfig> {
    const SECTION: ConfigSection = DiemKeys::SECTION;

    fn read(reader: &TableReader<'_>) -> Option<Option<DiemConfig>> {
        let DiemKeys { contract, rpc_url } = DiemKeys::read(reader)?;
        match (contract, rpc_url) {
            (Some(contract), Some(rpc_url)) => {
                let is_address = contract.strip_prefix("0x").is_some_and(|digits| {
                    digits.len() == 40 && digits.bytes().all(|it| it.is_ascii_hexdigit())
                });
                if is_address {
                    return Some(Some(DiemConfig { contract, rpc_url }));
                }
                let message = "`contract` in [diem] must be 0x and 40 hexadecimal digits";
                reader.report_fault("contract", message);
            }
            (None, None) => return Some(None),
            (Some(_), None) => {
                let message = "`rpc_url` is missing in [diem]; `contract` needs it";
                reader.report_fault("rpc_url", message);
            }
            (None, Some(_)) => {
                let message = "`contract` is missing in [diem]; `rpc_url` needs it";
                reader.report_fault("contract", message);
            }
        }
        None
    }
}
