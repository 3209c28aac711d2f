//! `tollgate models`: what is on offer.

use control::operation::Operation;
use control::reply::{ModelLine, Reply};

use crate::args;
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::{Listing, print_json, print_line};

pub(crate) async fn run(
    operator: &mut Operator<'_>,
    command: &args::Models,
) -> Result<(), Failure> {
    match command {
        args::Models::List(listing) => {
            let models = operator.models().await?;
            if listing.json { print_json(&models) } else { print_models(&models) }
        }
        args::Models::Reload(listing) => {
            let reply = operator.perform_running(Operation::ReloadModels).await?;
            let Reply::Reloaded(reloaded) = reply else { return Err(unexpected()) };
            if listing.json {
                return print_json(&reloaded);
            }
            print_line(&format!("reloaded: {} models", reloaded.models))
        }
    }
}

fn print_models(models: &[ModelLine]) -> Result<(), Failure> {
    let mut table = Listing::new(&["ID", "TYPE", "NAME", "PROVIDERS", "TRAITS", "STATE"]);
    for model in models {
        let state = if model.offline { "offline" } else { "online" };
        table.row([
            (&model.id).into(),
            (&model.model_type).into(),
            (&model.name).into(),
            model.providers.join(", ").into(),
            model.traits.join(", ").into(),
            state.into(),
        ]);
    }
    table.print()
}
