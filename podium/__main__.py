"""The process of ``podium``, or ``python -m podium``: ready for signals before it loads more."""

from podium.stop_signals import end_at_once_before_commands, ignore_after_commands


def main() -> None:
    """Run the command line of this process, then exit with its exit code."""
    end_at_once_before_commands()
    from podium.cli import main as run_command

    try:
        run_command()
    finally:
        ignore_after_commands()


if __name__ == "__main__":
    main()
