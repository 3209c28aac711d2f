//! The console: its pages, its sessions, and its operations.

use std::sync::Arc;

use api::console::assets::{Asset, Assets, Page};
use api::console::{Console, Operate, OperateError, OperatorKey};
use api::engines::Engines;
use config::sources::FlagSetting;
use control::actor::Actor;
use control::operation::{Operation, OperationError};
use control::secrets::{SecretName, secret};
use control::service::Service;
use serde_json::{Value, json};

use super::weights::{self, WeightsAsked};
use crate::doctor;
use crate::failure::Failure;
use crate::local::Local;
use crate::surroundings::Surroundings;

/// An operation in addition to those of the control socket: checks that each provider answers.
const CHECK_PROVIDERS: &str = "check_providers";

/// The sources of the configuration, for later requests about it.
#[derive(Clone)]
pub(crate) struct Sources {
    pub(crate) surroundings: Surroundings,
    pub(crate) flags: Vec<FlagSetting>,
    pub(crate) engines: Arc<Engines>,
}

impl Sources {
    pub(crate) fn new(
        surroundings: &Surroundings,
        flags: &[FlagSetting],
        engines: &Arc<Engines>,
    ) -> Sources {
        let (surroundings, flags) = (surroundings.clone(), flags.to_vec());
        Sources { surroundings, flags, engines: Arc::clone(engines) }
    }
}

/// Returns the console and, on the first start, the token of a one-time sign-in link for the
/// operator.
pub(crate) async fn open(
    service: &Arc<Service>,
    (sources, local): (Sources, Option<Local>),
    is_first_start: bool,
) -> Result<(Console, Option<String>), Failure> {
    let (store, entropy) = (service.store.as_ref(), service.entropy.as_ref());
    let secret = secret(store, entropy, SecretName::Console).await?;
    let now = service.clock.now();
    let operate = operator(Arc::clone(service), sources, local);
    let console = Console::new(&secret, assets(), now).with_operator(operate);
    let mut link = None;
    if is_first_start {
        link = Some(service.create_operator_link(&Actor::of_service()).await?.token);
    }
    Ok((console, link))
}

fn assets() -> Assets {
    let file = |path: &str| {
        let file = console_assets::file(path)?;
        Some(Asset { bytes: file.bytes, tag: file.tag })
    };
    let page = |page: &'static console_assets::Page| Page {
        slug: page.slug,
        title: page.title,
        markdown: page.markdown,
        tag: page.tag,
    };
    Assets { file, pages: console_assets::PAGES.iter().map(page).collect() }
}

fn operator(service: Arc<Service>, sources: Sources, local: Option<Local>) -> Operate {
    Arc::new(move |by: OperatorKey, operation| {
        let (service, sources, local) = (Arc::clone(&service), sources.clone(), local.clone());
        Box::pin(async move {
            if operation["operation"] == CHECK_PROVIDERS {
                return check_providers(sources).await;
            }
            if let Ok(asked) = serde_json::from_value::<WeightsAsked>(operation.clone()) {
                return weights::answer(asked, &service, local.as_ref());
            }
            perform(&service, &Actor::of_operator_key(&by.last6), operation).await
        })
    })
}

async fn perform(service: &Service, by: &Actor, operation: Value) -> Result<Value, OperateError> {
    let operation: Operation = serde_json::from_value(operation)
        .map_err(|error| OperateError::Refused(error.to_string()))?;
    // A browser must not choose where files are written on this machine.
    if let Operation::Backup { .. } = operation {
        let message = "back up with `tollgate backup FILE` on the machine itself";
        return Err(OperateError::Refused(message.to_owned()));
    }
    // A stolen credential must not create others that outlive it.
    if let Operation::CreateOperatorKey(_) | Operation::CreateOperatorLink = operation {
        let message = "run `tollgate operator` on the machine itself";
        return Err(OperateError::Refused(message.to_owned()));
    }
    let reply = service.perform(by, operation).await.map_err(|error| match error {
        OperationError::Refused(message) => OperateError::Refused(message),
        OperationError::Failed(message) | OperationError::Unknown(message) => {
            OperateError::Failed(message)
        }
    })?;
    serde_json::to_value(reply).map_err(|error| OperateError::Failed(error.to_string()))
}

async fn check_providers(sources: Sources) -> Result<Value, OperateError> {
    let config = sources.surroundings.sources(sources.flags.clone()).read();
    let config = config.map_err(|error| OperateError::Refused(error.to_string()))?;
    let mut findings = doctor::providers::check(&config.providers, &config.models).await;
    let faults = &sources.engines.metering_faults;
    findings.extend(config.providers.iter().filter_map(|provider| {
        let counts = faults.of_provider(&provider.id)?;
        Some(doctor::providers::metering_fault(&provider.id, counts))
    }));
    Ok(json!({ "providers": findings }))
}
