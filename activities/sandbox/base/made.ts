/** What a base was made from; its canonical JSON is stored beside the root as recipe.json. */
export type BaseRecipe =
  | {
      kind: "debian";
      version: number;
      suite: string;
      variant: string;
      architecture: string;
      include: string[];
      /** Every installed package with its version. */
      packages: Record<string, string>;
    }
  | {
      kind: "image";
      /** As the user named it. */
      reference: string;
      manifest: string;
      layers: string[];
      /** The image's own environment (its PATH above all); commands in sandboxes should get it. */
      environment: Record<string, string>;
    }
  | { kind: "directory"; path: string; sha256: string }
  | { kind: "tar"; path: string; sha256: string };

/** A root file system as a tar, ready to be unpacked. */
export interface MadeBase {
  tar: string;
  /** 64 hex digits; equal for equal content. */
  digest: string;
  recipe: BaseRecipe;
}

export interface MakeOptions {
  progress?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Link in `work` to a folder elsewhere that goes with it. */
export const SCRATCH_LINK = "scratch";

/** One way to get a base. */
export interface BaseMaker {
  /** Says cheaply whether the request means the same as last time (file sizes and times, not contents). */
  key(): Promise<string>;
  /** Makes the tar; may write into `work`, an empty folder that is removed afterwards. */
  make(work: string, options: MakeOptions): Promise<MadeBase>;
}
