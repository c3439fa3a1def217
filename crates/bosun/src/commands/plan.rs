//! `bosun plan`: make a plan and stop there. It is `bosun run` with a request that ends at the plan.

use crate::args;
use crate::commands::run::run;
use crate::exit::Exit;
use crate::home::Home;
use crate::print;

pub(crate) async fn plan(home: &Home, args: args::Plan) -> anyhow::Result<Exit> {
    if args.schema {
        print::json(&rules::plan::schema())?;
        return Ok(Exit::Done);
    }
    let mut asked = args.run;
    asked.only_plan = Some(args.out);
    Box::pin(run(home, asked)).await
}
