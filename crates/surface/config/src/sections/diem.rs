//! `[diem]`: staked DIEM as a daily allowance.

use super::HTTP;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;
use crate::secret::{SecretResolver, SecretString};

pub const SECTION: ConfigSection = ConfigSection {
    name: "diem",
    form: SectionForm::One,
    doc: "Staked DIEM as a daily allowance: 1 DIEM is 1 USD per day. Disabled unless `contract` is \
          set; the operator then sets allowances with `tollgate accounts credit`.",
    keys: &[
        ConfigKey::optional(
            "contract",
            ValueKind::Text,
            "The staking contract, 0x and 40 digits. At startup and once a day, its `balanceOf` \
             (18 decimals) is read for each wallet that paid or is linked to an account, and \
             becomes the allowance of its owner.",
        ),
        ConfigKey::optional(
            "rpc_url",
            ValueKind::SecretUrl(HTTP),
            "The URL of a node of the contract's chain.",
        ),
    ],
};

/// The contract from which stakes are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiemConfig {
    pub contract: String,
    pub rpc_url: SecretString,
}

/// Returns `Some(None)` if stakes are not read, and `None` if a fault was reported.
pub(crate) fn read_diem_config(
    reader: &TableReader<'_>,
    vault: &SecretResolver<'_>,
) -> Option<Option<DiemConfig>> {
    let contract = reader.text("contract");
    let rpc_url = vault.resolve_url(reader, "rpc_url");
    match (contract, rpc_url) {
        (Some(contract), Some(rpc_url)) => {
            let is_address = contract.strip_prefix("0x").is_some_and(|digits| {
                digits.len() == 40 && digits.bytes().all(|it| it.is_ascii_hexdigit())
            });
            if !is_address {
                let message = "`contract` in [diem] must be 0x and 40 hexadecimal digits";
                reader.report_fault("contract", message);
                return None;
            }
            Some(Some(DiemConfig { contract, rpc_url }))
        }
        (None, None) => Some(None),
        (Some(_), None) => {
            reader.report_fault("rpc_url", "`rpc_url` is missing in [diem]; `contract` needs it");
            None
        }
        (None, Some(_)) => {
            reader.report_fault("contract", "`contract` is missing in [diem]; `rpc_url` needs it");
            None
        }
    }
}
