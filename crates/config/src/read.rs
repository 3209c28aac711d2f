//! Converts the merged tree to typed settings, and reports all faults at once.

use domain::catalogue::Model;
use domain::limits::tiers::{Allowed, LimitClass, Tier, Tiers};

use crate::catalogue;
use crate::fault::{Fault, Faults, Invalid, did_you_mean};
use crate::key::{Form, Section};
use crate::node::{Node, Table, Value};
use crate::origin::Origin;
use crate::reader::Reader;
use crate::secret::Vault;
use crate::sections::brand::{self, Brand};
use crate::sections::chat::{self, Chat};
use crate::sections::cluster::{self, Cluster};
use crate::sections::development::{self, Development};
use crate::sections::diem::{self, Diem};
use crate::sections::engine::{self, Engine};
use crate::sections::image::{self, Image};
use crate::sections::limits::{self, Limits};
use crate::sections::log::{self, Log};
use crate::sections::media::{self, Media};
use crate::sections::provider::{self, Provider};
use crate::sections::queue::{self, Queue};
use crate::sections::rpc::{self, Rpc};
use crate::sections::scrape::{self, Scrape};
use crate::sections::search::{self, Search};
use crate::sections::server::{self, Server};
use crate::sections::store::{self, Store};
use crate::sections::x402::{self, X402};
use crate::sections::{self, tier, top};
use crate::sources::{Sources, finished};

/// The complete, validated configuration.
#[derive(Debug, Clone)]
pub struct Config {
    pub server: Server,
    pub brand: Brand,
    pub log: Log,
    pub development: Development,
    pub store: Store,
    /// None for a single node.
    pub cluster: Option<Cluster>,
    pub limits: Limits,
    pub tiers: Tiers,
    pub media: Media,
    pub queue: Queue,
    pub engine: Engine,
    pub chat: Chat,
    pub image: Image,
    pub providers: Vec<Provider>,
    pub models: Vec<Model>,
    pub x402: X402,
    /// None if stakes are not read from a contract.
    pub diem: Option<Diem>,
    pub rpc: Rpc,
    pub search: Search,
    pub scrape: Scrape,
    /// Valid settings that should be changed, such as a secret written into the file.
    pub warnings: Vec<Fault>,
}

impl Sources {
    /// Returns the whole configuration, or all its faults.
    pub fn read(&self) -> Result<Config, Invalid> {
        self.read_checked(|table, providers, faults| {
            catalogue::abilities::check(table, providers, faults);
        })
    }

    /// Like `read`, for stub engines: skips the check that providers support the declared features.
    pub fn read_for_stub_engines(&self) -> Result<Config, Invalid> {
        self.read_checked(|_, _, _| {})
    }

    fn read_checked(
        &self,
        check_abilities: impl Fn(&Table, &[Provider], &Faults),
    ) -> Result<Config, Invalid> {
        let faults = self.faults();
        let vault = Vault::new(&self.environment, &self.folder);
        let top = Top { table: &self.table, faults: &faults };
        top.check_names();
        top.check_includes();
        // All sections are read before an error is returned, so that all faults are reported.
        let server = server::read(&top.section(&server::SECTION));
        let brand = brand::read(&top.section(&brand::SECTION), &vault);
        let log = log::read(&top.section(&log::SECTION));
        let development = development::read(&top.section(&development::SECTION));
        let store = store::read(&top.section(&store::SECTION));
        let cluster = cluster::read(&top.section(&cluster::SECTION));
        let limits = limits::read(&top.section(&limits::SECTION));
        let mut tiers = top.tiers();
        let media = media::read(&top.section(&media::SECTION));
        let queue = queue::read(&top.section(&queue::SECTION));
        let engine = engine::read(&top.section(&engine::SECTION));
        let chat = chat::read(&top.section(&chat::SECTION));
        let image = image::read(&top.section(&image::SECTION));
        let providers = top.providers(&vault);
        let mut provider_ids = top.provider_ids();
        // The built-in engine needs no `[[provider]]` entry.
        provider_ids.push(provider::BUILT_IN);
        let mut models = catalogue::read(&self.table, &provider_ids, &faults);
        catalogue::fill_hour_cache_prices(&mut models, &providers);
        check_abilities(&self.table, &providers, &faults);
        let x402 = x402::read(&top.section(&x402::SECTION), &vault);
        if let Some(x402) = &x402 {
            let allowed = Allowed { requests: x402.top_ups_per_minute, tokens: None };
            tiers.change_ordinary(LimitClass::TopUp, allowed);
        }
        let diem = diem::read(&top.section(&diem::SECTION), &vault);
        let rpc = rpc::read(&top.section(&rpc::SECTION), &vault);
        let search = search::read(&top.section(&search::SECTION), &vault);
        let scrape = scrape::read(&top.section(&scrape::SECTION));
        let warnings = vault.into_literals().into_sorted();
        let config = || {
            Some(Config {
                server: server?,
                brand: brand?,
                log: log?,
                development: development?,
                store: store?,
                cluster: cluster?,
                limits: limits?,
                tiers,
                media: media?,
                queue: queue?,
                engine: engine?,
                chat: chat?,
                image: image?,
                providers,
                models,
                x402: x402?,
                diem: diem?,
                rpc: rpc?,
                search: search?,
                scrape: scrape?,
                warnings,
            })
        };
        finished(config(), faults)
    }

    /// Returns only the settings that opening the database needs. Commands that manage keys or
    /// accounts use it, because they must work in a shell without the service's secrets.
    pub fn read_ground(&self) -> Result<Ground, Invalid> {
        let faults = self.faults();
        let top = Top { table: &self.table, faults: &faults };
        let store = store::read(&top.section(&store::SECTION));
        let development = development::read(&top.section(&development::SECTION));
        let tiers = top.tiers();
        let ground = || Some(Ground { store: store?, development: development?, tiers });
        finished(ground(), faults)
    }
}

/// The settings needed to open and initialize a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    pub store: Store,
    pub development: Development,
    pub tiers: Tiers,
}

struct Top<'a> {
    table: &'a Table,
    faults: &'a Faults,
}

impl<'a> Top<'a> {
    fn section(&self, section: &'static Section) -> Reader<'a> {
        static EMPTY: Table = Table::EMPTY;
        let place = format!("[{}]", section.name);
        let (table, origin) = match self.table.get(section.name) {
            Some(Node { value: Value::Table(table), origin }) => (table, origin.clone()),
            Some(node) => {
                let message = format!("`{}` must be a section, written {place}", section.name);
                self.faults.push(&node.origin, message);
                (&EMPTY, node.origin.clone())
            }
            None => (&EMPTY, Origin::Default),
        };
        Reader::new(table, section.keys, place, origin, self.faults)
    }

    /// Returns the ids of all provider entries, also of invalid ones: those are reported
    /// separately, and models may still name them.
    fn provider_ids(&self) -> Vec<&'a str> {
        let Some(Node { value: Value::List(items), .. }) = self.table.get("provider") else {
            return Vec::new();
        };
        let id = |item: &'a Node| match &item.value {
            Value::Table(table) => match table.get("id") {
                Some(Node { value: Value::Text(id), .. }) => Some(id.as_str()),
                _ => None,
            },
            _ => None,
        };
        items.iter().filter_map(id).collect()
    }

    fn entries(&self, section: &'static Section) -> Vec<Reader<'a>> {
        let place = format!("[[{}]]", section.name);
        let Some(node) = self.table.get(section.name) else { return Vec::new() };
        let Value::List(items) = &node.value else {
            let message = format!("`{}` must be a list, written {place}", section.name);
            self.faults.push(&node.origin, message);
            return Vec::new();
        };
        let mut readers = Vec::new();
        for item in items {
            match &item.value {
                Value::Table(table) => readers.push(Reader::new(
                    table,
                    section.keys,
                    place.clone(),
                    item.origin.clone(),
                    self.faults,
                )),
                other => {
                    let message = format!("{place} must be a table, not {}", other.described());
                    self.faults.push(&item.origin, message);
                }
            }
        }
        readers
    }

    fn providers(&self, vault: &Vault<'_>) -> Vec<Provider> {
        let mut providers: Vec<Provider> = Vec::new();
        for reader in self.entries(&provider::SECTION) {
            let Some(provider) = provider::read(&reader, vault) else { continue };
            let is_taken = providers.iter().any(|earlier| earlier.id == provider.id);
            if is_taken {
                let message = format!("a second [[provider]] has the id `{}`", provider.id);
                reader.fault("id", message);
                continue;
            }
            providers.push(provider);
        }
        providers
    }

    fn tiers(&self) -> Tiers {
        let mut written: Vec<Tier> = Vec::new();
        for reader in self.entries(&tier::SECTION) {
            let Some(tier) = tier::read(&reader) else { continue };
            if written.iter().any(|earlier| earlier.name() == tier.name()) {
                reader.fault("id", format!("a second [[tier]] has the id `{}`", tier.name()));
                continue;
            }
            written.push(tier);
        }
        let mut tiers = Tiers::default();
        written.into_iter().for_each(|tier| tiers.set(tier));
        tiers
    }

    /// Checks the form of the `include` list. The files themselves were read by `gather`.
    fn check_includes(&self) {
        let mut included = Table::default();
        if let Some(node) = self.table.get("include") {
            included.insert("include", node.clone());
        }
        let keys = top::SECTION.keys;
        Reader::new(&included, keys, "the file", Origin::Default, self.faults).texts("include");
    }

    /// Reports top-level names that are neither a key nor a section.
    fn check_names(&self) {
        let first_words = sections::all().filter(|section| section.form != Form::Inner);
        let first_words = first_words.filter_map(|section| section.name.split('.').next());
        let keys = top::SECTION.keys.iter().map(|key| key.name);
        let known: Vec<&str> = keys.chain(first_words).filter(|name| !name.is_empty()).collect();
        for (name, node) in self.table.entries() {
            if known.contains(&name) {
                continue;
            }
            let what = if matches!(node.value, Value::Table(_)) { "section" } else { "key" };
            let hint = did_you_mean(name, known.iter().copied());
            self.faults.push(&node.origin, format!("unknown {what} `{name}`{hint}"));
        }
    }
}
