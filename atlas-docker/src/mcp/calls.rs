//! The same tools for a model that is asked by this program, without a connection between the two.

use super::{Refused, RepositoryServer, refuse};
use crate::{RepositoryTools, ToolOffer};
use async_trait::async_trait;
use atlas_core::Error;
use rmcp::Json;
use rmcp::handler::server::wrapper::Parameters;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

#[async_trait]
impl RepositoryTools for RepositoryServer {
    fn offers(&self) -> Vec<ToolOffer> {
        let tools = Self::tool_router().list_all();
        tools
            .into_iter()
            .map(|tool| ToolOffer {
                name: tool.name.into_owned(),
                description: tool.description.unwrap_or_default().into_owned(),
                arguments: Value::Object((*tool.input_schema).clone()),
            })
            .collect()
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, String> {
        let answer = async {
            match tool {
                "clone" => said(self.clone_repository(given(tool, arguments)?).await),
                "list" => said(self.list(given(tool, arguments)?).await),
                "read" => said(self.read(given(tool, arguments)?).await),
                "search" => said(self.search(given(tool, arguments)?).await),
                "history" => said(self.history(given(tool, arguments)?).await),
                _ => {
                    let offers = self.offers().into_iter();
                    let names: Vec<String> = offers.map(|tool| tool.name).collect();
                    let subject =
                        format!("`{tool}`: there is none; there are: {}", names.join(", "));
                    Err(refuse("call the tool", subject))
                }
            }
        };
        answer.await.map_err(|why: Error| why.chain())
    }
}

/// The arguments of a tool.
fn given<T: DeserializeOwned>(
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Parameters<T>, Error> {
    serde_json::from_value(Value::Object(arguments))
        .map(Parameters)
        .map_err(|why| refuse(tool, "arguments").with_source(why))
}

/// What a tool said, as its structured answer.
fn said<T: Serialize>(answer: Result<Json<T>, Refused>) -> Result<Value, Error> {
    match answer {
        Ok(Json(answer)) => serde_json::to_value(answer)
            .map_err(|why| refuse("encode", "the answer").with_source(why)),
        Err(Refused(why)) => Err(why),
    }
}
