"""``podium trial``: one configuration by hand, or a trial of a study again and its network."""

import typer

from podium.commands import trial_embed, trial_evaluate, trial_export, trial_rerun, trial_train

command = typer.Typer(
    help="Train one configuration by hand, or use a trial of a study.", no_args_is_help=True
)
command.command("train")(trial_train.command)
command.command("rerun")(trial_rerun.command)
command.command("embed")(trial_embed.command)
command.command("evaluate")(trial_evaluate.command)
command.command("export")(trial_export.command)
