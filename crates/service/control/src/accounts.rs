//! Operations on accounts: create, credit, limit, link wallets, freeze and report.

use access::wallets;
use domain::access::KeyKind;
use domain::entropy::time_ordered_id;
use ledger_core::{AllowanceKind, EntryId, OwnerId};
use moment::Timestamp;
use money::{BalanceCurrency, Nano};
use store::error::StoreError;
use store::owner::{Owner, OwnerKind};
use store::wallet::WalletLink;
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;
use wallet::WalletAddress;

use crate::actor::AuditActor;
use crate::operation::{CreditCurrency, OperationError};
use crate::reply::{AccountAllowances, AccountLine, AccountReport, BalanceTexts};
use crate::service::ControlService;

const NAME_CHARS_MAX: usize = 64;
/// Accounts read per store query.
const PAGE_OWNERS: usize = 500;
/// The rate-limit tier of a new account.
const TIER: &str = "default";

impl ControlService {
    pub(crate) async fn create_account(&self, name: &str) -> Result<AccountReport, OperationError> {
        check_name(name)?;
        let now = self.clock.now();
        let owner = Owner {
            id: OwnerId(time_ordered_id(now, self.entropy.as_ref())),
            kind: OwnerKind::Account,
            name: name.to_owned(),
            tier: TIER.to_owned(),
            created: now,
            frozen: None,
        };
        match self.store.commit(WriteGroup::from_write(StoreWrite::AddOwner(owner.clone()))).await {
            Ok(()) => self.build_account_report(&owner).await,
            Err(StoreError::Duplicate(_)) => {
                let message = format!("the account `{name}` already exists; choose another name");
                Err(OperationError::Refused(message))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) async fn list_accounts(&self) -> Result<Vec<AccountLine>, OperationError> {
        let owners = self.every_account().await?;
        let mut lines = Vec::with_capacity(owners.len());
        for owner in &owners {
            lines.push(self.build_account_line(owner).await?);
        }
        Ok(lines)
    }

    pub(crate) async fn show_account(&self, name: &str) -> Result<AccountReport, OperationError> {
        let owner = self.find_account(name).await?;
        self.build_account_report(&owner).await
    }

    pub(crate) async fn credit_account(
        &self,
        by: &AuditActor,
        entry: Uuid,
        name: &str,
        amount: &str,
        currency: CreditCurrency,
    ) -> Result<AccountReport, OperationError> {
        let owner = self.find_account(name).await?;
        let entry = EntryId(entry);
        let told = |words: String| vec![self.build_audit_row(by, "accounts credit", name, words)];
        let refused = |error: money::AmountError| OperationError::Refused(error.to_string());
        match currency {
            CreditCurrency::Usd | CreditCurrency::Vcu => {
                let amount = Nano::parse_positive(amount).map_err(refused)?;
                let is_usd = currency == CreditCurrency::Usd;
                let currency = if is_usd { BalanceCurrency::Usd } else { BalanceCurrency::Vcu };
                let also = told(format!("{amount} {currency}, entry {}", entry.0));
                self.grant(entry, owner.id, currency, amount, also).await?;
            }
            CreditCurrency::Diem | CreditCurrency::Bundled => {
                let amount = Nano::parse(amount).map_err(refused)?;
                let is_diem = currency == CreditCurrency::Diem;
                let kind =
                    if is_diem { AllowanceKind::DiemDaily } else { AllowanceKind::BundledMonthly };
                let period = if is_diem { "DIEM a day" } else { "bundled credits a month" };
                let also = told(format!("{amount} {period}, entry {}", entry.0));
                self.ledger.set_allowance(entry, owner.id, kind, amount, also).await?;
            }
        }
        self.report_moved(&owner).await
    }

    /// Assigns another rate-limit tier to an account, from its next request on.
    pub(crate) async fn set_tier(
        &self,
        name: &str,
        tier: &str,
    ) -> Result<AccountReport, OperationError> {
        let Some(tier) = self.tiers.find(tier) else {
            let names: Vec<&str> = self.tiers.names().collect();
            let message = format!("there is no tier `{tier}`; choose from {}", names.join(", "));
            return Err(OperationError::Refused(message));
        };
        let owner = self.find_account(name).await?;
        let write = StoreWrite::SetTier { owner: owner.id, tier: tier.name().to_owned() };
        self.store.commit(WriteGroup::from_write(write)).await?;
        self.keys.forget_all();
        self.show_account(name).await
    }

    /// Lets a wallet spend an account's balance; the wallet's payments credit that account.
    pub(crate) async fn link_wallet(
        &self,
        by: &AuditActor,
        name: &str,
        wallet: &str,
    ) -> Result<AccountReport, OperationError> {
        let wallet = wallet_address(wallet)?;
        let owner = self.find_account(name).await?;
        let told = self.build_audit_row(by, "accounts link", name, wallet.to_string());
        let link = WalletLink {
            kind: wallets::owner_kind(wallet),
            address: wallet.to_string(),
            owner: owner.id,
            at: self.clock.now(),
        };
        match self
            .store
            .commit(WriteGroup { writes: vec![StoreWrite::LinkWallet(link), told] })
            .await
        {
            Ok(()) => self.build_account_report(&owner).await,
            Err(StoreError::Duplicate(_)) => Err(OperationError::Refused(format!(
                "the wallet {wallet} is linked already, or has a balance of its own; only a wallet \
                 that never paid can be linked"
            ))),
            Err(error) => Err(error.into()),
        }
    }

    /// From then on the wallet has its own account once it pays. API keys that it created stay
    /// valid until they are revoked.
    pub(crate) async fn unlink_wallet(
        &self,
        by: &AuditActor,
        name: &str,
        wallet: &str,
    ) -> Result<AccountReport, OperationError> {
        let wallet = wallet_address(wallet)?;
        let owner = self.find_account(name).await?;
        let (kind, address) = (wallets::owner_kind(wallet), wallet.to_string());
        let audit = self.build_audit_row(by, "accounts unlink", name, address.clone());
        let unlink = StoreWrite::UnlinkWallet { kind, address, owner: owner.id };
        match self.store.commit(WriteGroup { writes: vec![unlink, audit] }).await {
            Ok(()) => self.build_account_report(&owner).await,
            Err(StoreError::Missing(_)) => Err(OperationError::Refused(format!(
                "the wallet {wallet} is not linked to `{name}`"
            ))),
            Err(error) => Err(error.into()),
        }
    }

    /// Freezes an account, or a wallet by its address, from its next request on.
    pub(crate) async fn set_frozen(
        &self,
        by: &AuditActor,
        name: &str,
        since: Option<Timestamp>,
    ) -> Result<AccountReport, OperationError> {
        let owner = match WalletAddress::parse(name) {
            Some(wallet) => {
                let address = wallet.to_string();
                let found = self.store.find_owner(wallets::owner_kind(wallet), &address).await?;
                found.ok_or_else(|| {
                    OperationError::Refused(format!("the wallet {wallet} has never paid"))
                })?
            }
            None => self.find_account(name).await?,
        };
        let action = if since.is_some() { "accounts freeze" } else { "accounts unfreeze" };
        let audit = self.build_audit_row(by, action, name, format!("account {}", owner.id.0));
        let freeze = StoreWrite::Freeze { owner: owner.id, since };
        self.store.commit(WriteGroup { writes: vec![freeze, audit] }).await?;
        self.keys.forget_all();
        self.build_account_report(&Owner { frozen: since, ..owner }).await
    }

    /// The account with this name; the error suggests the nearest name.
    pub(crate) async fn find_account(&self, name: &str) -> Result<Owner, OperationError> {
        let found = self.store.find_owner(OwnerKind::Account, name).await?;
        found.ok_or_else(|| {
            OperationError::Refused(format!(
                "there is no account `{name}`; `tollgate accounts list` shows them, \
                 `tollgate accounts create {name}` makes it"
            ))
        })
    }

    pub(crate) async fn every_account(&self) -> Result<Vec<Owner>, OperationError> {
        let mut owners: Vec<Owner> = Vec::new();
        loop {
            let after = owners.last().map(|owner| owner.name.clone()).unwrap_or_default();
            let page = self.store.list_owners(OwnerKind::Account, &after, PAGE_OWNERS).await?;
            let is_last = page.len() < PAGE_OWNERS;
            owners.extend(page);
            if is_last {
                return Ok(owners);
            }
        }
    }

    /// Builds the report after a transfer. If the balance cannot be read, the transfer has still
    /// happened.
    pub(crate) async fn report_moved(
        &self,
        owner: &Owner,
    ) -> Result<AccountReport, OperationError> {
        self.build_account_report(owner).await.map_err(|error| {
            OperationError::Unknown(format!(
                "the operation was performed, but the new balance cannot be read: {error}"
            ))
        })
    }

    async fn build_account_report(&self, owner: &Owner) -> Result<AccountReport, OperationError> {
        let keys = self.store.list_keys(owner.id).await?;
        let allowance = async |kind| self.ledger.allocation_anywhere(owner.id, kind).await;
        Ok(AccountReport {
            line: self.build_account_line(owner).await?,
            allowances: AccountAllowances {
                diem_per_day: allowance(AllowanceKind::DiemDaily).await?.to_string(),
                bundled_per_month: allowance(AllowanceKind::BundledMonthly).await?.to_string(),
            },
            keys: keys.iter().filter(|key| key.kind != KeyKind::Operator).count(),
        })
    }

    async fn build_account_line(&self, owner: &Owner) -> Result<AccountLine, OperationError> {
        Ok(AccountLine {
            id: owner.id.0,
            name: owner.name.clone(),
            tier: owner.tier.clone(),
            created_at: owner.created.to_string(),
            frozen_at: owner.frozen.map(|since| since.to_string()),
            balances: self.read_balances(owner.id).await?,
        })
    }

    async fn read_balances(&self, owner: OwnerId) -> Result<BalanceTexts, OperationError> {
        let balances = self.ledger.balances_anywhere(owner).await?;
        let named = |currency: BalanceCurrency| {
            (currency.name().to_owned(), balances.get(currency).to_string())
        };
        Ok(BalanceCurrency::ALL.into_iter().map(named).collect())
    }
}

fn wallet_address(written: &str) -> Result<WalletAddress, OperationError> {
    WalletAddress::parse(written).ok_or_else(|| {
        OperationError::Refused(format!(
            "`{written}` is not a wallet address; use 0x and 40 hexadecimal digits, or base58 for Solana"
        ))
    })
}

fn check_name(name: &str) -> Result<(), OperationError> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.@+".contains(letter);
    let is_short = !name.is_empty() && name.chars().count() <= NAME_CHARS_MAX;
    if is_short && name.chars().all(is_plain) && !name.starts_with('-') {
        return Ok(());
    }
    Err(OperationError::Refused(format!(
        "an account's name is 1 to {NAME_CHARS_MAX} letters, digits or any of - _ . @ +"
    )))
}
