import * as React from 'react';

interface IBoundaryProps {
  /** What is shown where the content cannot be drawn: the output as any front end shows it. */
  text: string;
  children: React.ReactNode;
}

/** What a notebook keeps can be of a later version, or anybody's: where it cannot be drawn, its text stands in its place. */
export class Boundary extends React.Component<
  IBoundaryProps,
  { hasFailed: boolean }
> {
  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override state = { hasFailed: false };

  /** Another output is another try. */
  override componentDidUpdate(before: IBoundaryProps): void {
    if (this.state.hasFailed && before.text !== this.props.text) {
      this.setState({ hasFailed: false });
    }
  }

  override render(): React.ReactNode {
    return this.state.hasFailed ? (
      <pre className="jp-AcaiView-text">{this.props.text}</pre>
    ) : (
      this.props.children
    );
  }
}
